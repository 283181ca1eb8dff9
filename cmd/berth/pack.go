package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/berth-go/berth/pack"
)

type packCmd struct {
	Problem  string        `arg:"" help:"A CSV file with the columns id,lower,upper,size: buffer id is live from lower to before upper."`
	Capacity int64         `help:"Bytes available; 0 means as few as possible." default:"0" placeholder:"BYTES"`
	Strategy string        `help:"How to search: ${enum}." enum:"auto,exact,greedy,first-fit" default:"auto"`
	Timeout  time.Duration `help:"How long to search; 0 means until the search budget is spent." default:"0" placeholder:"D"`
	Threads  int           `help:"Workers that search; 0 means one for each processor." default:"0" placeholder:"N"`
	Out      string        `help:"Write the problem with its offsets to a file." placeholder:"SOLUTION.csv"`
	jsonFlag
}

type packResult struct {
	Buffers    int     `json:"buffers"`
	Arena      int64   `json:"arena_bytes"`
	LowerBound int64   `json:"lower_bound_bytes"`
	Strategy   string  `json:"strategy"`
	Optimal    bool    `json:"optimal"`
	Seconds    float64 `json:"seconds"`
}

// String prints the figures in one line.
func (r packResult) String() string {
	proven := "not proven optimal"
	if r.Optimal {
		proven = "optimal"
	}
	return fmt.Sprintf("%d buffers in %d bytes (%s), lower bound %d, %s, %.3f s\n", r.Buffers, r.Arena, proven, r.LowerBound, r.Strategy, r.Seconds)
}

// Run places the buffers of a problem. It fails when they are not brought into
// the capacity.
func (c *packCmd) Run(e *env) error {
	f, err := os.Open(c.Problem)
	if err != nil {
		return err
	}
	buffers, _, err := pack.ReadCSV(f)
	f.Close()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Problem, err)
	}
	ctx := e.ctx
	opt := &pack.Options{Strategy: pack.Strategy(c.Strategy), Capacity: c.Capacity, Workers: c.Threads}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	start := time.Now()
	if e.terminal {
		opt.Progress = func(p pack.Progress) {
			fmt.Fprintf(e.stderr, "\r%6.1f s  arena %d, lower bound %d ", time.Since(start).Seconds(), p.Arena, p.LowerBound)
		}
		defer fmt.Fprint(e.stderr, "\n")
	}
	placed, err := pack.Place(ctx, buffers, opt)
	seconds := time.Since(start).Seconds()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Problem, err)
	}
	if c.Out != "" {
		write := func(w io.Writer) error { return pack.WriteCSV(w, buffers, placed.Offsets) }
		if err := createFile(c.Out, write); err != nil {
			return err
		}
	}
	return c.show(e, packResult{len(buffers), placed.Arena, placed.LowerBound, string(placed.Strategy), placed.Optimal, seconds})
}
