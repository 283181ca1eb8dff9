package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/berth-go/berth/internal/wire"
)

//go:embed ort.js
var ortScript string

// missing is the error about something to compare with that is not there.
type missing string

func (m missing) Error() string { return string(m) }

// errCrash is the error about a model that ended the process of ONNX Runtime.
var errCrash = errors.New("ONNX Runtime crashes")

// A runtime is a process that runs models in ONNX Runtime, one at a time. After a crash
// the next model starts another one.
type runtime struct {
	node, module, script string
	cmd                  *exec.Cmd
	in                   io.WriteCloser
	out                  *bufio.Reader
}

// newRuntime finds what runs models: node, and the folder that holds node_modules. The
// script is written into dir.
func newRuntime(module, dir string) (*runtime, error) {
	r := &runtime{script: filepath.Join(dir, "ort.js")}
	var err error
	if r.node, err = exec.LookPath("node"); err != nil {
		return nil, missing("node is not installed")
	}
	if r.module, err = filepath.Abs(module); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(r.module, "node_modules", "onnxruntime-node")); err != nil {
		return nil, missing("onnxruntime-node is not installed in " + r.module)
	}
	return r, os.WriteFile(r.script, []byte(ortScript), 0o666)
}

func (r *runtime) start() (err error) {
	r.cmd = exec.Command(r.node, r.script, r.module)
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	r.out = bufio.NewReaderSize(out, 1<<16)
	return r.cmd.Start()
}

// close ends the process, if there is one.
func (r *runtime) close() {
	if r.cmd != nil {
		r.in.Close()
		r.cmd.Wait()
		r.cmd = nil
	}
}

// A message is a tensor as ort.js reads and writes it.
type message struct {
	Type string          `json:"type"`
	Dims []int64         `json:"dims"`
	Data json.RawMessage `json:"data"`
}

// run returns the outputs of a model by name, of the model as it is or after optimisations
// of a level: "disabled", "basic", "extended" or "all".
func (r *runtime) run(model []byte, inputs []wire.Tensor, level string) (map[string]*wire.Tensor, error) {
	request := struct {
		Model    []byte             `json:"model"`
		Inputs   map[string]message `json:"inputs"`
		Optimize string             `json:"optimize"`
	}{model, make(map[string]message), level}
	for i := range inputs {
		m, err := toMessage(&inputs[i])
		if err != nil {
			return nil, err
		}
		request.Inputs[inputs[i].Name] = m
	}
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if r.cmd == nil {
		if err := r.start(); err != nil {
			return nil, err
		}
	}
	var answer struct {
		Outputs map[string]message
		Error   string
	}
	_, err = r.in.Write(append(line, '\n'))
	if err == nil {
		line, err = r.out.ReadBytes('\n')
	}
	if err != nil {
		r.close()
		return nil, errCrash
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	outputs := make(map[string]*wire.Tensor)
	for name, m := range answer.Outputs {
		if outputs[name], err = fromMessage(name, m); err != nil {
			return nil, err
		}
	}
	return outputs, nil
}

// messageTypes names the element types that ONNX Runtime takes and gives in Node.js.
var messageTypes = map[wire.DataType]string{
	wire.Float: "float32", wire.Double: "float64", wire.Float16: "float16",
	wire.Int8: "int8", wire.Int16: "int16", wire.Int32: "int32", wire.Int64: "int64",
	wire.Uint8: "uint8", wire.Uint16: "uint16", wire.Uint32: "uint32", wire.Uint64: "uint64",
	wire.Bool: "bool", wire.String: "string",
}

func toMessage(t *wire.Tensor) (m message, err error) {
	m.Type, m.Dims = messageTypes[t.DataType], append([]int64{}, t.Dims...)
	if m.Type == "" {
		return m, fmt.Errorf("no input of %v", t.DataType)
	}
	if t.DataType == wire.String {
		text := make([]string, len(t.StringData))
		for i, s := range t.StringData {
			text[i] = string(s)
		}
		m.Data, err = json.Marshal(text)
		return m, err
	}
	m.Data, err = json.Marshal(append([]byte{}, t.Raw...))
	return m, err
}

func fromMessage(name string, m message) (*wire.Tensor, error) {
	t := &wire.Tensor{Name: name, Dims: m.Dims}
	for d, s := range messageTypes {
		if s == m.Type {
			t.DataType = d
		}
	}
	if t.DataType != wire.String {
		return t, json.Unmarshal(m.Data, &t.Raw)
	}
	var text []string
	err := json.Unmarshal(m.Data, &text)
	for _, s := range text {
		t.StringData = append(t.StringData, []byte(s))
	}
	return t, err
}
