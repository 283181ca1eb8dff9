// Command berth runs, plans, checks and measures ONNX models, and packs
// buffers into memory.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/berth-go/berth"
	"github.com/berth-go/berth/onnx"
)

// cli lists the commands; each is described in its own file.
type cli struct {
	Run   runCmd   `cmd:"" help:"Run a model, or without one a small trained model on sample images."`
	Plan  planCmd  `cmd:"" help:"Show where a model's values lie in memory."`
	Pack  packCmd  `cmd:"" help:"Place buffers of a CSV problem in memory."`
	Check checkCmd `cmd:"" help:"Run ONNX backend tests: folders with a model and stored inputs and outputs."`
	Bench benchCmd `cmd:"" help:"Measure a model's latency and memory."`
	Info  infoCmd  `cmd:"" help:"Show what a model file says of itself."`
}

// env is what a command works with, so that tests can give it their own.
type env struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
	// terminal says that stderr is one, for progress.
	terminal bool
}

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1 // the work failed
	exitUsage  = 2 // wrong usage
)

// errFailed says that the work failed and that everything has been said.
var errFailed = errors.New("failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(os.Args[1:], &env{ctx, os.Stdout, os.Stderr, term.IsTerminal(int(os.Stderr.Fd()))})
	stop()
	os.Exit(status)
}

// run carries out a command line and returns the exit status.
func run(args []string, e *env) int {
	var commands cli
	done := -1 // set when kong has printed help
	parser, err := kong.New(&commands,
		kong.Name("berth"),
		kong.Description("A tensor runtime that decides where every byte lives before it runs."),
		kong.UsageOnError(),
		kong.Writers(e.stdout, e.stderr),
		kong.Exit(func(status int) { done = status }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the declarations above are wrong
	}
	if len(args) == 0 {
		help := *e
		help.stdout = e.stderr
		run([]string{"--help"}, &help)
		return exitUsage
	}
	selected, err := parser.Parse(args)
	if done >= 0 {
		return exitDone
	}
	if err != nil {
		fmt.Fprintf(e.stderr, "berth: %v\nSee berth --help.\n", err)
		return exitUsage
	}
	switch err := selected.Run(e); {
	case err == nil:
		return exitDone
	case errors.Is(err, errFailed):
		return exitFailed
	default:
		fmt.Fprintln(e.stderr, "berth:", strings.TrimPrefix(err.Error(), "berth: "))
		var usage usageError
		if errors.As(err, &usage) || errors.Is(err, onnx.ErrName) || errors.Is(err, berth.ErrRule) {
			return exitUsage
		}
		return exitFailed
	}
}

// usageError is an error in how a command was called.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }
