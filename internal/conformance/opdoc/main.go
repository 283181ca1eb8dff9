// Command opdoc writes docs/operators.md: the operators that package onnx has, and
// how the ONNX backend tests end that use each.
//
//	go generate ./onnx
//
// What the page says of operators and their versions is from the table of package
// onnx, and a test holds it to that. The rest is from a run of the tests.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	data := flag.String("data", "", "the folder of the backend tests, which holds node and others")
	out := flag.String("out", "", "the file to write")
	flag.Parse()
	if err := write(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "opdoc:", err)
		os.Exit(1)
	}
}

func write(data, out string) error {
	results, err := runAll(context.Background(), data)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(page(results)), 0o666)
}
