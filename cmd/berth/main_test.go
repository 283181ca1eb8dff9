package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"berth": main})
}

// TestScripts runs the command lines in testdata/script. Each finds the files
// that writeFiles makes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup:               func(e *testscript.Env) error { return writeFiles(e.WorkDir) },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": cmdStatus,
			"json":   cmdJSON,
		},
	})
}

// cmdStatus runs a command and wants an exit status: status N command args...
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s: exit status %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// cmdJSON wants the objects of a file to have just the given keys: json FILE
// key... A key a.b is that of the object under a, and of every object in the
// array under a.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json FILE key...")
	}
	decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	want := args[1:]
	slices.Sort(want)
	for n := 0; ; n++ {
		var object map[string]any
		if !decoder.More() {
			if n == 0 {
				ts.Fatalf("%s has no JSON object", args[0])
			}
			return
		}
		if err := decoder.Decode(&object); err != nil {
			ts.Fatalf("%s, object %d: %v", args[0], n, err)
		}
		keys := make(map[string]bool)
		collectKeys(keys, "", object)
		if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, want) {
			ts.Fatalf("%s, object %d: the keys are\n%v, want\n%v", args[0], n, got, want)
		}
	}
}

func collectKeys(keys map[string]bool, prefix string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			keys[prefix+k] = true
			collectKeys(keys, prefix+k+".", inner)
		}
	case []any:
		for _, inner := range v {
			collectKeys(keys, prefix, inner)
		}
	}
}
