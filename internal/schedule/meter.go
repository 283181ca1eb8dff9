package schedule

import "context"

// meter counts the work of a search, in values and steps looked at, and ends it.
type meter struct {
	ctx    context.Context
	spent  int64
	budget int64
	polled int64 // spent when ctx was last looked at
	over   bool
}

// spend adds work and reports whether the search may go on.
func (m *meter) spend(n int64) bool {
	m.spent += n
	if m.spent >= m.budget {
		m.over = true
	}
	if !m.over && m.spent-m.polled >= 1<<14 {
		m.polled = m.spent
		m.over = m.ctx.Err() != nil
	}
	return !m.over
}
