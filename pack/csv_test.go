package pack

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadCSV(t *testing.T) {
	for _, c := range []struct {
		name, text string
		buffers    []Buffer
		offsets    []int64
	}{
		{"published form", "id,lower,upper,size\nb1,0,3,4\nb2,-3,9,0\n",
			[]Buffer{{ID: "b1", Start: 0, End: 3, Size: 4}, {ID: "b2", Start: -3, End: 9}}, nil},
		{"solution", "id,lower,upper,size,offset\nx,0,3,4,12\n", []Buffer{{ID: "x", End: 3, Size: 4}}, []int64{12}},
		{"any order, unknown columns", "Size, note ,UPPER,id,lower\r\n4,\"a, b\",3,x,0\r\n", []Buffer{{ID: "x", End: 3, Size: 4}}, nil},
		{"alignment", "id,lower,upper,size,alignment\nx,0,3,4,64\ny,0,3,4,\n",
			[]Buffer{{ID: "x", End: 3, Size: 4, Align: 64}, {ID: "y", End: 3, Size: 4}}, nil},
		{"align", "id,lower,upper,size,align\nx,0,3,4,64\n", []Buffer{{ID: "x", End: 3, Size: 4, Align: 64}}, nil},
		{"fixed and parts", "id,lower,upper,size,fixed,parts\nx,0,3,4,8,0:1@0:4 1:3@2:4\ny,0,3,4,,\n", []Buffer{
			{ID: "x", End: 3, Size: 4, Fixed: true, Offset: 8, Parts: []Part{{0, 1, 0, 4}, {1, 3, 2, 4}}}, {ID: "y", End: 3, Size: 4}}, nil},
		{"byte order mark, no last newline", "\ufeffid,lower,upper,size\nx, 0 ,3,4", []Buffer{{ID: "x", End: 3, Size: 4}}, nil},
		{"header alone", "id,lower,upper,size\n", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			buffers, offsets, err := ReadCSV(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.buffers, buffers) + cmp.Diff(c.offsets, offsets); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadCSVErrors(t *testing.T) {
	head := "id,lower,upper,size\n"
	for _, c := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"empty file", "", 1, "no header"},
		{"no size column", "id,lower,upper\nx,0,1\n", 1, `no column "size"`},
		{"no header", "x,0,1,4\n", 1, `no column "id"`},
		{"column twice", "id,lower,upper,size,size\n", 1, `"size" appears twice`},
		{"alignment twice", "id,lower,upper,size,align,alignment\n", 1, `"alignment" appears twice`},
		{"missing field", head + "x,0,1,4\ny,0,1\n", 3, "3 fields, the header has 4"},
		{"extra field", head + "x,0,1,4,5\n", 2, "5 fields"},
		{"not a number", head + "x,0,1,4k\n", 2, `size: strconv.ParseInt: parsing "4k"`},
		{"fraction", head + "x,0,1,4.0\n", 2, "size"},
		{"too large", head + "x,0,1,9223372036854775808\n", 2, "out of range"},
		{"empty number", head + "x,,1,4\n", 2, "lower is empty"},
		{"empty offset", "id,lower,upper,size,offset\nx,0,1,4,\n", 2, "offset is empty"},
		{"empty id", head + " ,0,1,4\n", 2, "id is empty"},
		{"id twice", head + "x,0,1,4\n\ny,0,1,4\nx,2,3,4\n", 5, `id "x" is already on line 2`},
		{"empty lifetime", head + "x,0,1,4\ny,5,5,4\n", 3, "lifetime [5, 5) is empty"},
		{"negative size", head + "x,0,1,-4\n", 2, "size -4 is negative"},
		{"bad quote", head + "x,0,1,4\n\"y,0,1,4\n", 3, "quote"},
		{"bad part", "id,lower,upper,size,parts\nx,0,1,4,0:1@0\n", 2, "start:end@lower:upper"},
		{"part of bad number", "id,lower,upper,size,parts\nx,0,1,4,0:1@0:z\n", 2, `"z"`},
		{"part outside", "id,lower,upper,size,parts\nx,0,1,4,0:1@0:5\n", 2, "part 0: bytes [0, 5)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			buffers, _, err := ReadCSV(strings.NewReader(c.text))
			var ce *CSVError
			if !errors.As(err, &ce) || ce.Line != c.line || !strings.Contains(err.Error(), c.want) || buffers != nil {
				t.Errorf("got %v, %v; want line %d, %q", buffers, err, c.line, c.want)
			}
		})
	}
	broken := errors.New("broken disk")
	if _, _, err := ReadCSV(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("reader's error is lost: %v", err)
	}
}

func TestCSVRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 1))
	for _, shape := range shapes {
		for range 50 {
			want := shape.random(rng)
			offsets := make([]int64, len(want))
			for i := range want {
				offsets[i] = rng.Int64N(100)
				if want[i].Align == 1 {
					want[i].Align = 0 // both mean none
				}
			}
			var text bytes.Buffer
			if err := WriteCSV(&text, want, offsets); err != nil {
				t.Fatal(err)
			}
			got, gotOffsets, err := ReadCSV(&text)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if got[i].Align == 1 {
					got[i].Align = 0
				}
			}
			if d := cmp.Diff(want, got) + cmp.Diff(offsets, gotOffsets); d != "" {
				t.Fatal(d)
			}
		}
	}
}

func TestWriteCSV(t *testing.T) {
	var text bytes.Buffer
	buffers := []Buffer{{Start: 0, End: 3, Size: 4}, {ID: "a,b", Start: 1, End: 2, Size: 3}}
	if err := WriteCSV(&text, buffers, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), "id,lower,upper,size\n0,0,3,4\n\"a,b\",1,2,3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := WriteCSV(&text, buffers, []int64{1}); err == nil {
		t.Error("one offset for two buffers is no error")
	}
	if err := WriteCSV(failingWriter{}, buffers, nil); !errors.Is(err, errFull) {
		t.Errorf("writer's error is lost: %v", err)
	}
}

var errFull = errors.New("disk full")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errFull }

// FuzzReadCSV reads anything without harm, and reads again what it writes of it.
func FuzzReadCSV(f *testing.F) {
	f.Add("id,lower,upper,size\nx,0,1,4\n")
	f.Add("id,lower,upper,size,offset\nx,0,1,4,0\ny,-1,1,4,4\n")
	f.Add("parts,fixed,align,id,lower,upper,size\n0:1@0:4 0:1@1:2,8,4,x,0,1,4\n,,,y,0,9,9223372036854775807\n")
	f.Add("\ufeffid,lower,upper,size\n\"x\"\"\",0,1,4")
	f.Fuzz(func(t *testing.T, text string) {
		buffers, offsets, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteCSV(&out, buffers, offsets); err != nil {
			t.Fatal(err)
		}
		again, _, err := ReadCSV(&out)
		if err != nil {
			t.Fatalf("%v, after writing %+v", err, buffers)
		}
		if len(again) != len(buffers) {
			t.Fatalf("%d buffers of %d came back", len(again), len(buffers))
		}
		if len(buffers) > 50 {
			return
		}
		pl, err := Place(t.Context(), buffers, &Options{Budget: 200})
		if err != nil {
			return
		}
		if err := Check(buffers, pl.Offsets, 0); err != nil {
			t.Fatal(err)
		}
	})
}
