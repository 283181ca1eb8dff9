package circuit

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// rowsVary is what varies where nothing is known but the row count.
var rowsVary = map[string]bool{RowsName: true}

func lookupIn(values map[string]int64) func(string) (int64, bool) {
	return func(name string) (int64, bool) {
		v, ok := values[name]
		return v, ok
	}
}

func TestExprEval(t *testing.T) {
	values := lookupIn(map[string]int64{"n": 7, "k": 3, "zero": 0, "big": math.MaxInt64})
	for _, test := range []struct {
		text  string
		want  int64
		print string // if it differs from text
		kind  Kind
	}{
		{text: "n", want: 7},
		{text: "0", want: 0},
		{text: "9223372036854775807", want: math.MaxInt64},
		{text: " n * k + 1 ", want: 22, print: "n*k+1"},
		{text: "n*(k+1)", want: 28},
		{text: "(n+k)*(n+k)", want: 100},
		{text: "n-k-1", want: 3},
		{text: "n-(k-1)", want: 5},
		{text: "n+(k+1)", want: 11},
		{text: "((n))", want: 7, print: "n"},
		{text: "ceil(n/k)", want: 3},
		{text: "ceil((n+2)/k)*4", want: 12, print: "ceil(n+2/k)*4"},
		{text: "floor(n/k)", want: 2},
		{text: "ceil(zero/k)", want: 0},
		{text: "ceil(big/1)", want: math.MaxInt64},
		{text: "min(n,k)", want: 3},
		{text: "max(n, k)+min", kind: ErrDimension, print: "max(n,k)+min"},
		{text: "m", kind: ErrDimension},
		{text: "big+1", kind: ErrOverflow},
		{text: "big*2", kind: ErrOverflow},
		{text: "k-n", kind: ErrExpr},
		{text: "n-8", kind: ErrNegative},
		{text: "n-8+8", kind: ErrNegative},
		{text: "n*zero", want: 0},
		{text: "ceil(n/zero)", kind: ErrZero},
	} {
		e, err := ParseExpr(test.text)
		if err != nil {
			if !errors.Is(err, test.kind) || test.kind == "" {
				t.Errorf("%q: %v", test.text, err)
			}
			continue
		}
		if test.print == "" {
			test.print = test.text
		}
		if e.String() != test.print {
			t.Errorf("%q prints as %q", test.text, e)
		}
		got, err := e.Eval(values)
		if test.kind != "" {
			if !errors.Is(err, test.kind) {
				t.Errorf("%q is %d, error %v; want %v", test.text, got, err, test.kind)
			}
		} else if err != nil || got != test.want {
			t.Errorf("%q is %d, error %v; want %d", test.text, got, err, test.want)
		}
	}
}

func TestParseExprErrors(t *testing.T) {
	for text, kind := range map[string]Kind{
		"":                                  ErrExpr,
		"-1":                                ErrExpr,
		"n*":                                ErrExpr,
		"n n":                               ErrExpr,
		"(n":                                ErrExpr,
		"n)":                                ErrExpr,
		"n/2":                               ErrExpr,
		"ceil(n,2)":                         ErrExpr,
		"max(n/2)":                          ErrExpr,
		"round(n/2)":                        ErrExpr,
		"1.5":                               ErrExpr,
		"n\x00":                             ErrExpr,
		"ñ":                                 ErrExpr,
		"2-n":                               ErrExpr, // shrinks as n grows
		"ceil(8/n)":                         ErrExpr,
		"floor(8/(k+n))":                    ErrExpr,
		"9223372036854775808":               ErrOverflow,
		strings.Repeat("9", 1000):           ErrOverflow,
		strings.Repeat("(", 1<<20):          ErrExpr,
		strings.Repeat("ceil(", 1<<18):      ErrExpr,
		"1" + strings.Repeat("+1", 1<<20):   ErrExpr,
		strings.Repeat("(1*", 70) + "1":     ErrExpr,
		"1" + strings.Repeat(" ", 70) + "z": ErrExpr,
	} {
		e, err := ParseExpr(text)
		if !errors.Is(err, kind) {
			t.Errorf("%.40q: %v, error %v", text, e.IsZero(), err)
		}
	}
}

func TestExprBuilders(t *testing.T) {
	e := Sum(Product(N(), Var("top_k")), CeilDiv(N(), Const(4)), Const(2))
	if got := e.String(); got != "n*top_k+ceil(n/4)+2" {
		t.Errorf("built %s", got)
	}
	parsed, err := ParseExpr(e.String())
	if err != nil || !parsed.Equal(e) {
		t.Errorf("parsed %s, error %v", parsed, err)
	}
	if !e.DependsOnRows() || Const(3).DependsOnRows() {
		t.Error("DependsOnRows")
	}
	if !Sum(N(), Expr{}).IsZero() || !Product(Expr{}, N()).IsZero() {
		t.Error("an expression made of one that is not given is given")
	}
	if _, err := (Expr{}).Eval(nil); !errors.Is(err, ErrNoSize) {
		t.Errorf("the zero expression: %v", err)
	}
	if _, err := Const(-1).Eval(nil); !errors.Is(err, ErrNegative) {
		t.Errorf("a negative constant: %v", err)
	}
	if err := CeilDiv(Const(8), N()).check(rowsVary); !errors.Is(err, ErrExpr) {
		t.Errorf("a divisor that grows: %v", err)
	}
	long := N()
	for range 13 {
		long = Sum(long, long)
	}
	if err := long.check(rowsVary); !errors.Is(err, ErrExpr) {
		t.Errorf("an expression of 2^13 terms: %v", err)
	}
}

func TestExprJSON(t *testing.T) {
	for text, want := range map[string]string{
		`512`: "512", `"512"`: "512", `"n*k"`: "n*k", `""`: "", ` 7 `: "7", `null`: "",
	} {
		var e Expr
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.String() != want {
			t.Errorf("%s: %s, error %v", text, e, err)
			continue
		}
		data, err := json.Marshal(e)
		var back Expr
		if err != nil || json.Unmarshal(data, &back) != nil || !back.Equal(e) {
			t.Errorf("%s comes back from %s as %s, error %v", text, data, back, err)
		}
	}
	for _, text := range []string{`1e3`, `1.0`, `-1`, `true`, `{}`, `[]`, `"2-n"`, `99999999999999999999`} {
		var e Expr
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s is read as %s", text, e)
		}
	}
}

// randomExpr makes an expression that passes check where n and v vary, of those if
// it may, and of k.
func randomExpr(r *rand.Rand, depth int, varies bool) Expr {
	if depth == 0 || r.IntN(4) == 0 {
		switch {
		case varies && r.IntN(2) == 0:
			return []Expr{N(), Var("v")}[r.IntN(2)]
		case r.IntN(2) == 0:
			return Var("k")
		}
		return Const(r.Int64N(9))
	}
	o := op(int(opAdd) + r.IntN(int(opMax-opAdd)+1))
	right := varies && o != opSub && o != opCeil && o != opFloor
	return chain(o, randomExpr(r, depth-1, varies), []Expr{randomExpr(r, depth-1, right)})
}

// What is printed parses to the same expression, and no expression shrinks as
// the row count or another dimension that varies grows.
func TestExprProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8000 {
		e := randomExpr(r, 1+r.IntN(5), true)
		if err := e.check(map[string]bool{RowsName: true, "v": true, "k": false}); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		back, err := ParseExpr(e.String())
		if err != nil || !back.Equal(e) {
			t.Fatalf("%s comes back as %s, error %v", e, back, err)
		}
		for _, grows := range []string{"n", "v"} {
			at := map[string]int64{"n": 3, "v": 4, "k": 5}
			var before int64
			for at[grows] = range int64(12) {
				size, err := e.Eval(lookupIn(at))
				if err != nil {
					continue // a difference below zero, a division by zero
				}
				if size < before {
					t.Fatalf("%s shrinks from %d to %d at %s = %d", e, before, size, grows, at[grows])
				}
				before = size
			}
		}
	}
}

func FuzzParseExpr(f *testing.F) {
	for _, seed := range []string{"n*top_k", "ceil((n+1)/4)*4-2", "min(n,max(1,k))", "((((", "9223372036854775807*2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpr(text)
		if err != nil {
			return
		}
		back, err := ParseExpr(e.String())
		if err != nil || !back.Equal(e) {
			t.Fatalf("%q prints as %q, which reads as %q, error %v", text, e, back, err)
		}
		v, err := e.Eval(func(string) (int64, bool) { return 3, true })
		if err == nil && v < 0 {
			t.Fatalf("%q is %d", text, v)
		}
	})
}
