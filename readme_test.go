package berth_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme wants the names that the Go snippets of README.md use to be there: exported
// ones of the packages berth and onnx, and for what is called of a value, or stated in a
// literal, methods and fields of theirs.
func TestReadme(t *testing.T) {
	exported, members := make(map[string]bool), make(map[string]bool)
	for _, dir := range []string{".", "onnx"} {
		for _, name := range must(filepath.Glob(filepath.Join(dir, "*.go"))) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := must(parser.ParseFile(token.NewFileSet(), name, nil, 0))
			for name := range file.Scope.Objects {
				exported[file.Name.Name+"."+name] = ast.IsExported(name)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					members[n.Name.Name] = members[n.Name.Name] || n.Recv != nil
				case *ast.Field:
					for _, name := range n.Names {
						members[name.Name] = true
					}
				}
				return true
			})
		}
	}
	comment := regexp.MustCompile(`//.*`)
	qualified := regexp.MustCompile(`\b(?:berth|onnx|fmt)\.[A-Z]\w*`)
	member := regexp.MustCompile(`\.([A-Z]\w*)\(|\b([A-Z]\w*):`)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(must(os.ReadFile("README.md"))), -1)
	found := 0
	for _, block := range blocks {
		code := comment.ReplaceAllString(block[1], "")
		for _, name := range qualified.FindAllString(code, -1) {
			if found++; !exported[name] && !strings.HasPrefix(name, "fmt.") {
				t.Errorf("there is no %s", name)
			}
		}
		for _, match := range member.FindAllStringSubmatch(qualified.ReplaceAllString(code, "x"), -1) {
			if found++; !members[match[1]+match[2]] {
				t.Errorf("there is no method or field %s", match[1]+match[2])
			}
		}
	}
	if len(blocks) < 5 || found < 40 {
		t.Errorf("%d snippets use %d names", len(blocks), found)
	}
}
