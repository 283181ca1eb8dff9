//go:build !clibs

package main

func libraries() (kernels []kernel, caption string, err error) {
	return nil, "", missing("kernels are compared with C where this is built with -tags clibs, which wants gcc, libopenblas-dev and libdnnl-dev")
}
