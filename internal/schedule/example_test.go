package schedule_test

import (
	"context"
	"fmt"

	"github.com/berth-go/berth/internal/schedule"
)

// Two branches read one value. Each makes something large of it first, and
// something small of that. To begin both before ending one takes 180 bytes more
// than to run one after the other.
func ExampleOrders() {
	p := &schedule.Problem{
		Steps: 6,
		Values: []schedule.Value{
			{Bytes: 10, Writer: 0, Readers: []int{1, 2}},
			{Bytes: 200, Writer: 1, Readers: []int{3}},
			{Bytes: 300, Writer: 2, Readers: []int{4}},
			{Bytes: 20, Writer: 3, Readers: []int{5}},
			{Bytes: 30, Writer: 4, Readers: []int{5}},
		},
	}
	orders, err := schedule.Orders(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	best := orders[0]
	fmt.Println(best.Steps, best.Peak)
	for _, o := range orders {
		if o.Name == schedule.Seed {
			fmt.Println(o.Steps, o.Peak)
		}
	}
	// Output:
	// [0 2 4 1 3 5] 340
	// [0 1 2 3 4 5] 520
}
