package wire

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sharedFiles returns the files below dir of the data kept beside the module
// whose names end in one of suffixes, and skips the test when it is absent.
func sharedFiles(t testing.TB, dir string, suffixes ...string) []string {
	t.Helper()
	base := filepath.Join("..", "..", "..", "shared", dir)
	if _, err := os.Stat(base); err != nil {
		t.Skipf("the data in ../shared/%s, beside the module, is absent", dir)
	}
	var files []string
	err := filepath.WalkDir(base, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		for _, s := range suffixes {
			if strings.HasSuffix(path, s) {
				files = append(files, path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("../shared/%s has no %v", dir, suffixes)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// nodesOf calls visit for each node of g and of the graphs in its attributes.
func nodesOf(nodes []Node, visit func(*Node)) {
	for i := range nodes {
		visit(&nodes[i])
		for j := range nodes[i].Attributes {
			a := &nodes[i].Attributes[j]
			if a.Graph != nil {
				nodesOf(a.Graph.Nodes, visit)
			}
			for k := range a.Graphs {
				nodesOf(a.Graphs[k].Nodes, visit)
			}
		}
	}
}

// fedInputs returns the inputs of g that are not initializers as well, as
// they all are in models of IR version 3.
func fedInputs(g *Graph) []ValueInfo {
	initializers := make(map[string]bool)
	for i := range g.Initializers {
		initializers[g.Initializers[i].Name] = true
	}
	return slices.DeleteFunc(slices.Clone(g.Inputs), func(v ValueInfo) bool {
		return initializers[v.Name]
	})
}

// manifestValue is a graph input or output as a manifest.json states it. A
// dimension is a number, or a string that is the variable or "?".
type manifestValue struct {
	Name  string `json:"name"`
	Dtype string `json:"dtype"`
	Shape []any  `json:"shape"`
}

// manifestValues puts the tensors in list into the form of a manifest.
func manifestValues(list []ValueInfo) []manifestValue {
	var out []manifestValue
	for _, v := range list {
		m := manifestValue{Name: v.Name, Dtype: v.Type.Tensor.Elem.String(), Shape: []any{}}
		for _, d := range v.Type.Tensor.Shape.Dims {
			switch {
			case d.HasValue:
				m.Shape = append(m.Shape, float64(d.Value)) // as JSON has it
			case d.Param != "":
				m.Shape = append(m.Shape, d.Param)
			default:
				m.Shape = append(m.Shape, "?")
			}
		}
		out = append(out, m)
	}
	return out
}

// TestRealModels compares what is decoded of the models in ../shared/models
// with the counts that their manifests state, which other software made.
func TestRealModels(t *testing.T) {
	for _, name := range sharedFiles(t, "models", "model.onnx") {
		dir := filepath.Dir(name)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var want struct {
				IRVersion int64            `json:"ir_version"`
				Opset     map[string]int64 `json:"opset"`
				TopLevel  int              `json:"nodes_top_level"`
				All       int              `json:"nodes_with_subgraphs"`
				Ops       map[string]int   `json:"ops"`
				Inputs    []manifestValue  `json:"graph_inputs"`
				Outputs   []manifestValue  `json:"graph_outputs"`
			}
			if err := json.Unmarshal(readFile(t, filepath.Join(dir, "manifest.json")), &want); err != nil {
				t.Fatal(err)
			}
			data := readFile(t, name)
			m, err := DecodeModel(data, nil)
			if err != nil {
				t.Fatal(err)
			}
			if m.IRVersion != want.IRVersion {
				t.Errorf("ir_version %d, want %d", m.IRVersion, want.IRVersion)
			}
			opset := make(map[string]int64)
			for _, o := range m.OpsetImports {
				domain := o.Domain
				if domain == "" {
					domain = "ai.onnx"
				}
				opset[domain] = o.Version
			}
			for domain, version := range want.Opset { // those that nodes use
				if opset[domain] != version {
					t.Errorf("opset imports are %v, want %s %d", opset, domain, version)
				}
			}
			if d := cmp.Diff(want.Inputs, manifestValues(fedInputs(m.Graph))); d != "" {
				t.Errorf("inputs (-want +got):\n%s", d)
			}
			if d := cmp.Diff(want.Outputs, manifestValues(m.Graph.Outputs)); d != "" {
				t.Errorf("outputs (-want +got):\n%s", d)
			}
			if len(m.Graph.Nodes) != want.TopLevel {
				t.Errorf("%d nodes, want %d", len(m.Graph.Nodes), want.TopLevel)
			}
			ops, all := make(map[string]int), 0
			nodesOf(m.Graph.Nodes, func(n *Node) {
				all++
				op := n.OpType
				if n.Domain != "" && n.Domain != "ai.onnx" {
					op = n.Domain + "::" + op
				}
				ops[op]++
			})
			if all != want.All {
				t.Errorf("%d nodes with subgraphs, want %d", all, want.All)
			}
			if d := cmp.Diff(want.Ops, ops); d != "" {
				t.Errorf("op counts (-want +got):\n%s", d)
			}
			checkReencoded(t, m)
		})
	}
}

// checkReencoded writes m and reads it back.
func checkReencoded(t *testing.T, m *Model) {
	t.Helper()
	again, err := DecodeModel(AppendModel(nil, m), &Limits{MaxMemory: 1 << 30})
	if err != nil {
		t.Errorf("written and read again: %v", err)
		return
	}
	if d := diff(m, again); d != "" {
		t.Errorf("written and read again (-before +after):\n%s", d)
	}
}

// TestRealTensors compares each TensorProto of test data in ../shared/models
// with the .npy file of the same tensor.
func TestRealTensors(t *testing.T) {
	compared := 0
	for _, name := range sharedFiles(t, "models", ".pb") {
		tensor, err := DecodeTensor(readFile(t, name), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := tensor.Bytes()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		npy := strings.Replace(strings.Replace(name, "test_data_set_", "data_", 1), ".pb", ".npy", 1)
		data, err := os.ReadFile(npy)
		if err != nil {
			continue
		}
		// Version 1.0 of the format: 10 bytes, of which the last two are the
		// length of the header that follows, then the elements.
		header := 10 + int(data[8]) + int(data[9])<<8
		if !bytes.Equal(got, data[header:]) {
			t.Errorf("%s: elements differ from those of %s", name, npy)
		}
		compared++
	}
	if compared == 0 {
		t.Error("no tensor had a .npy file beside it")
	}
	t.Logf("%d tensors compared", compared)
}

// TestBackendModels decodes every model of the ONNX backend tests, and the
// test data of each by the type that the model declares for it.
func TestBackendModels(t *testing.T) {
	models, values := 0, make(map[string]int)
	for _, name := range sharedFiles(t, "onnx-backend", ".onnx") {
		data := readFile(t, name)
		m, err := DecodeModel(data, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkReencoded(t, m)
		models++
		inputs := fedInputs(m.Graph)
		sets, err := filepath.Glob(filepath.Join(filepath.Dir(name), "test_data_set_*", "*.pb"))
		if err != nil {
			t.Fatal(err)
		}
		for _, pb := range sets {
			kind, i, _ := strings.Cut(strings.TrimSuffix(filepath.Base(pb), ".pb"), "_")
			declared := inputs
			if kind == "output" {
				declared = m.Graph.Outputs
			}
			n := int(i[0] - '0')
			if len(i) == 2 {
				n = 10*n + int(i[1]-'0')
			}
			if n >= len(declared) || declared[n].Type == nil {
				t.Errorf("%s: %s has no type in the model", pb, kind+"_"+i)
				continue
			}
			values[declared[n].Type.Kind()]++
			if err := decodeValue(readFile(t, pb), declared[n].Type); err != nil {
				t.Errorf("%s: %v", pb, err)
			}
		}
	}
	for _, name := range sharedFiles(t, "onnx-backend/light", ".pb") {
		if err := decodeValue(readFile(t, name), &Type{Tensor: &TensorType{Elem: Float}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d models; values by kind of type: %v", models, values)
}

// decodeValue decodes a file of test data of type typ and reads its elements.
func decodeValue(data []byte, typ *Type) error {
	switch {
	case typ.Sequence != nil:
		s, err := DecodeSequence(data, nil)
		if err != nil {
			return err
		}
		for i := range s.Tensors {
			if err := readElements(&s.Tensors[i]); err != nil {
				return err
			}
		}
		return nil
	case typ.Optional != nil:
		o, err := DecodeOptional(data, nil)
		if err == nil && o.Tensor != nil {
			err = readElements(o.Tensor)
		}
		return err
	}
	t, err := DecodeTensor(data, nil)
	if err != nil {
		return err
	}
	return readElements(t)
}

func readElements(t *Tensor) error {
	if t.DataType == String {
		_, err := t.Strings()
		return err
	}
	_, err := t.Bytes()
	return err
}
