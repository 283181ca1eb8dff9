// Command bench compares the latency of Berth with that of ONNX Runtime, as npm
// has it, and that of its kernels with libraries in C, and prints a table of both and
// their ratio. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := compare(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.As(err, new(missing)):
		fmt.Fprintln(os.Stderr, "bench: skipped:", err)
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// missing is the error about something to compare with that is not there.
type missing string

func (m missing) Error() string { return string(m) }

func compare(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	shared := flags.String("shared", "../../shared", "`folder` of models")
	module := flags.String("ort", ".", "`folder` with node_modules/onnxruntime-node")
	match := flags.String("run", "", "only models, or kernels, whose name matches the `pattern`")
	table := flags.String("kernels", "", "compare kernels with C and not models: the `table` product, vector, convolution or elementwise")
	threads := flags.String("threads", "1,2", "`numbers` of threads")
	rounds := flags.Int("rounds", 5, "measurements of each runtime, in turn")
	load := flags.Bool("load", false, "compare the time to the first result, and memory")
	half := flags.String("half", "", "compare models with their numbers as halves with float32, both in Berth: the `type` float16 or bfloat16")
	seconds := flags.Duration("time", time.Second, "`duration` of a measurement")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	var counts []int
	for _, s := range strings.Split(*threads, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("-threads %q: give numbers from 1, such as 1,2", *threads)
		}
		counts = append(counts, n)
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: at least 1", *rounds)
	}
	if *table != "" {
		return compareKernels(ctx, out, *table, pattern, counts, *rounds, *seconds)
	}
	if _, ok := halfTypes[*half]; !ok && *half != "" {
		return fmt.Errorf("-half %q: want float16 or bfloat16", *half)
	}
	r, err := newRunner(*shared, *module, *half == "")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r.berth, r.seconds = filepath.Join(dir, "berth"), *seconds
	build := exec.CommandContext(ctx, "go", "build", "-o", r.berth, "github.com/berth-go/berth/cmd/berth")
	build.Stderr = log
	if err := build.Run(); err != nil {
		return fmt.Errorf("building berth: %w", err)
	}
	if *half != "" {
		return r.compareHalves(ctx, *half, pattern, counts, *rounds, out, log)
	}
	if *load {
		return r.compareLoads(ctx, pattern, counts, *rounds, out, log)
	}
	header(out)
	ratios := make(map[int][]float64)
	for _, c := range cases {
		if !pattern.MatchString(c.name) {
			continue
		}
		if !c.present(r.shared) {
			fmt.Fprintf(log, "bench: skipped: %s is not in %s\n", c.name, r.shared)
			continue
		}
		for _, n := range counts {
			res, err := r.measure(ctx, c, n, *rounds)
			if err != nil {
				return err
			}
			res.print(out)
			ratios[n] = append(ratios[n], median(res.berth)/median(res.ort))
		}
	}
	printMeans(out, ratios, counts, "| geometric mean of %d | | %d | | | %.2f | |\n")
	return nil
}

// printMeans prints the mean of several ratios for each number of threads.
func printMeans(out io.Writer, ratios map[int][]float64, threads []int, format string) {
	for _, n := range threads {
		if list := ratios[n]; len(list) > 1 {
			fmt.Fprintf(out, format, len(list), n, geometricMean(list))
		}
	}
}

// newRunner finds what the comparison needs, and ONNX Runtime where that is compared with.
func newRunner(shared, module string, ort bool) (*runner, error) {
	var r runner
	var err error
	if r.shared, err = filepath.Abs(shared); err != nil {
		return nil, err
	}
	if _, err := os.Stat(r.shared); err != nil {
		return nil, missing("there is no folder of models: " + r.shared)
	}
	if !ort {
		return &r, nil
	}
	if r.node, err = exec.LookPath("node"); err != nil {
		return nil, missing("node is not installed")
	}
	if r.module, err = filepath.Abs(module); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(r.module, "node_modules", "onnxruntime-node")); err != nil {
		return nil, missing("onnxruntime-node is not installed in " + r.module)
	}
	return &r, nil
}

func header(w io.Writer) {
	fmt.Fprintln(w, "| model | input | threads | ONNX Runtime, ms | Berth, ms | ratio of medians | of fastest |")
	fmt.Fprintln(w, "|---|---|--:|--:|--:|--:|--:|")
}

// print writes a row of the table: the medians, and their ratio, above 1 where
// Berth takes longer.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "| %s | %s | %d | %.2f | %.2f | %.2f | %.2f |\n", r.name, r.note, r.threads,
		median(r.ort), median(r.berth), median(r.berth)/median(r.ort), fastest(r.berth)/fastest(r.ort))
}
