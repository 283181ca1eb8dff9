module github.com/berth-go/berth/bench

go 1.26.0

tool github.com/berth-go/berth/cmd/berth

require (
	github.com/berth-go/berth v0.0.0-00010101000000-000000000000
	golang.org/x/sys v0.50.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/alecthomas/kong v1.17.0 // indirect
	golang.org/x/image v0.48.0 // indirect
	golang.org/x/term v0.48.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/berth-go/berth => ../
