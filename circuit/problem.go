package circuit

import (
	"context"
	"fmt"
	"io"
)

// A Problem is everything that a buffer plan depends on, as one file holds it.
// Plan, Layout and MaxRows may be missing.
//
// The text form has a statement on each line; # begins a comment. Names that are
// not plain words are quoted as in Go, and so are the names over, in and same.
//
//	circuit attention
//	rows 64                                         the most rows
//	dim top_k 8
//	dim past 0..511                                 from the smallest to the largest value
//	section prefill
//	edge x n x 512 float32                          rows x dim, and a format
//	edge y n*top_k x ceil(512/3) int4:32:float16    "-" stands for what is not given
//	node proj matmul in prefill : x w -> y          op; "in" only where there are sections
//	output y
//	plan prefill                                    the section, where there are sections
//	group g0 : proj bias                            in execution order
//	store x
//	store y float16                                 in a format other than the edge's own
//	layout                                          constraints; none if this is missing
//	external x
//	alias y x
//	pack a b c over z                               "over" if there is such an edge
//	rowpack q k v over qkv same                     "same" if they hold one value
//
// The JSON form is an object with the members circuit, plan, layout and
// max_rows; see the testdata folder for an example of each form. Both readers
// take any bytes: what they return is valid, in the sense of [Circuit.Validate]
// and [FusionPlan.Validate].
type Problem struct {
	Circuit *Circuit
	Plan    *FusionPlan
	Layout  *Layout
	MaxRows int64
}

// PlanBuffers is [PlanBuffersWith] for the parts of the problem.
func (p *Problem) PlanBuffers(ctx context.Context, opt *Options) (*BufferPlan, error) {
	if p == nil {
		return nil, &PlanError{Kind: ErrMissing, Detail: "there is no problem"}
	}
	return PlanBuffersWith(ctx, p.Circuit, p.Plan, p.Layout, p.MaxRows, opt)
}

// validate checks what the readers promise.
func (p *Problem) validate() error {
	if p == nil {
		return &PlanError{Kind: ErrMissing, Detail: "there is no problem"}
	}
	if p.MaxRows < 0 {
		return &PlanError{Kind: ErrNegative, Detail: fmt.Sprintf("the most rows are %d", p.MaxRows)}
	}
	if p.Plan != nil {
		return p.Plan.Validate(p.Circuit)
	}
	return p.Circuit.Validate()
}

// limitText bounds what a reader takes in: a circuit of a million edges is less.
const limitText = 1 << 30

func readAll(r io.Reader) ([]byte, error) {
	if r == nil {
		return nil, &PlanError{Kind: ErrMissing, Detail: "there is no reader"}
	}
	data, err := io.ReadAll(io.LimitReader(r, limitText+1))
	if err == nil && len(data) > limitText {
		err = fmt.Errorf("circuit: the text is longer than %d bytes", limitText)
	}
	return data, err
}

// A SyntaxError says where in a text form a fault lies.
type SyntaxError struct {
	Line int // counted from 1
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the fault itself.
func (e *SyntaxError) Unwrap() error { return e.Err }
