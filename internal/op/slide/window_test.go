package slide_test

import (
	"testing"

	"github.com/berth-go/berth/internal/op/optest"
	"github.com/berth-go/berth/internal/op/slide"
)

func TestAutoPadText(t *testing.T) { optest.Enum(t, slide.Valid) }
