//go:build clibs

#include "kernels.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

void use_threads(int n) {
	openblas_set_num_threads(n);
	omp_set_num_threads(n);
}

void product(int batch, int m, int n, int k, const float *a, const float *b, float *c) {
	for (int i = 0; i < batch; i++, a += (size_t)m * k, b += (size_t)k * n, c += (size_t)m * n) {
		if (n == 1)
			cblas_sgemv(CblasRowMajor, CblasNoTrans, m, k, 1, a, k, b, 1, 0, c, 1);
		else if (m == 1)
			cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, b, n, a, 1, 0, c, 1);
		else
			cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
	}
}

float sum(size_t n, const float *x) {
	float s = 0;
#pragma omp parallel for simd reduction(+ : s)
	for (size_t i = 0; i < n; i++)
		s += x[i];
	return s;
}

// LOOP is a loop of the elements of a and b.
#define LOOP(name, value) \
	void name(size_t n, const float *restrict a, const float *restrict b, float *restrict y) { \
		_Pragma("omp parallel for simd schedule(static)") for (size_t i = 0; i < n; i++) y[i] = value; \
	}

static inline float clipped(float x) { return x < -1 ? -1 : x > 1 ? 1 : x; }

LOOP(affine, 2 * a[i] + 1)
LOOP(add, a[i] + b[i])
LOOP(tree, clipped(a[i] * b[i] + a[i]) * 0.5f - b[i])
LOOP(exponential, expf(a[i]))
LOOP(gelu, 0.5f * a[i] * (1 + erff(a[i] * 0.70710678f)))
LOOP(clip, clipped(a[i]))

void copy3(size_t n, const float *a, const float *b, float *y) {
#pragma omp parallel
	{
		size_t parts = omp_get_num_threads(), part = omp_get_thread_num();
		size_t first = n / parts * part, last = part + 1 == parts ? n : first + n / parts;
		memcpy(y + first, a + first, (last - first) * sizeof *y);
		memcpy(y + n + first / 2, b + first / 2, (last - first) / 2 * sizeof *y);
	}
}

void widen(size_t n, const unsigned char *restrict x, float *restrict y) {
#pragma omp parallel for simd schedule(static)
	for (size_t i = 0; i < n; i++)
		y[i] = x[i];
}

void softmax(size_t rows, size_t n, const float *x, float *y) {
#pragma omp parallel for schedule(static)
	for (size_t r = 0; r < rows; r++) {
		const float *restrict in = x + r * n;
		float *restrict out = y + r * n;
		float most = in[0], s = 0;
		for (size_t i = 0; i < n; i++)
			most = in[i] > most ? in[i] : most;
		for (size_t i = 0; i < n; i++)
			s += out[i] = expf(in[i] - most);
		float f = 1 / s;
		for (size_t i = 0; i < n; i++)
			out[i] *= f;
	}
}

void layer_norm(size_t rows, size_t n, const float *x, const float *restrict scale, const float *restrict bias, float *y) {
#pragma omp parallel for schedule(static)
	for (size_t r = 0; r < rows; r++) {
		const float *restrict in = x + r * n;
		float *restrict out = y + r * n;
		float mean = 0, square = 0;
		for (size_t i = 0; i < n; i++)
			mean += in[i];
		mean /= n;
		for (size_t i = 0; i < n; i++)
			square += (in[i] - mean) * (in[i] - mean);
		float f = 1 / sqrtf(square / n + 1e-5f);
		for (size_t i = 0; i < n; i++)
			out[i] = (in[i] - mean) * f * scale[i] + bias[i];
	}
}

struct convolution {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	dnnl_memory_t image, weights, result;
	dnnl_memory_desc_t plain; // of the result
};

// moved returns a memory in the layout of to, filled from data in that of from, if there is any.
static dnnl_memory_t moved(convolution *v, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to, const float *data) {
	dnnl_memory_t source, target;
	if (dnnl_memory_create(&target, to, v->engine, DNNL_MEMORY_ALLOCATE))
		return NULL;
	if (!data)
		return target;
	dnnl_primitive_desc_t desc;
	dnnl_primitive_t reorder;
	dnnl_memory_create(&source, from, v->engine, (void *)data);
	dnnl_reorder_primitive_desc_create(&desc, from, v->engine, to, v->engine, NULL);
	dnnl_primitive_create(&reorder, desc);
	dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}};
	int failed = dnnl_primitive_execute(reorder, v->stream, 2, args) || dnnl_stream_wait(v->stream);
	dnnl_primitive_destroy(reorder);
	dnnl_primitive_desc_destroy(desc);
	dnnl_memory_destroy(source);
	return failed ? NULL : target;
}

convolution *new_convolution(int winograd, int c, int m, int h, int w, int taps, int stride, int pad, int groups,
		const float *image, const float *weights) {
	convolution *v = calloc(1, sizeof *v);
	dnnl_engine_create(&v->engine, dnnl_cpu, 0);
	dnnl_stream_create(&v->stream, v->engine, dnnl_stream_default_flags);
	dnnl_dims_t x = {1, c, h, w}, k = {m, c, taps, taps}, grouped = {groups, m / groups, c / groups, taps, taps};
	dnnl_dims_t y = {1, m, (h + 2 * pad - taps) / stride + 1, (w + 2 * pad - taps) / stride + 1};
	dnnl_dims_t strides = {stride, stride}, pads = {pad, pad};
	dnnl_memory_desc_t x_plain, k_plain, x_any, k_any, y_any;
	dnnl_memory_desc_init_by_tag(&x_plain, 4, x, dnnl_f32, dnnl_nchw);
	dnnl_memory_desc_init_by_tag(&v->plain, 4, y, dnnl_f32, dnnl_nchw);
	dnnl_memory_desc_init_by_tag(&x_any, 4, x, dnnl_f32, dnnl_format_tag_any);
	dnnl_memory_desc_init_by_tag(&y_any, 4, y, dnnl_f32, dnnl_format_tag_any);
	if (groups == 1) {
		dnnl_memory_desc_init_by_tag(&k_plain, 4, k, dnnl_f32, dnnl_oihw);
		dnnl_memory_desc_init_by_tag(&k_any, 4, k, dnnl_f32, dnnl_format_tag_any);
	} else {
		dnnl_memory_desc_init_by_tag(&k_plain, 5, grouped, dnnl_f32, dnnl_goihw);
		dnnl_memory_desc_init_by_tag(&k_any, 5, grouped, dnnl_f32, dnnl_format_tag_any);
	}
	dnnl_convolution_desc_t conv;
	dnnl_primitive_desc_t desc;
	if (dnnl_convolution_forward_desc_init(&conv, dnnl_forward_inference, winograd ? dnnl_convolution_winograd : dnnl_convolution_direct,
			&x_any, &k_any, NULL, &y_any, strides, pads, pads) ||
		dnnl_primitive_desc_create(&desc, &conv, NULL, v->engine, NULL)) {
		free_convolution(v);
		return NULL;
	}
	v->image = moved(v, &x_plain, dnnl_primitive_desc_query_md(desc, dnnl_query_src_md, 0), image);
	v->weights = moved(v, &k_plain, dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0), weights);
	v->result = moved(v, &v->plain, dnnl_primitive_desc_query_md(desc, dnnl_query_dst_md, 0), NULL);
	int failed = !v->image || !v->weights || !v->result || dnnl_primitive_create(&v->primitive, desc);
	dnnl_primitive_desc_destroy(desc);
	if (failed) {
		free_convolution(v);
		return NULL;
	}
	return v;
}

void run_convolution(convolution *v) {
	dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, v->image}, {DNNL_ARG_WEIGHTS, v->weights}, {DNNL_ARG_DST, v->result}};
	dnnl_primitive_execute(v->primitive, v->stream, 3, args);
	dnnl_stream_wait(v->stream);
}

int convolution_result(convolution *v, float *y) {
	const dnnl_memory_desc_t *own;
	void *data;
	if (dnnl_memory_get_memory_desc(v->result, &own) || dnnl_memory_get_data_handle(v->result, &data))
		return 1;
	dnnl_memory_t plain = moved(v, own, &v->plain, data);
	if (!plain || dnnl_memory_get_data_handle(plain, &data))
		return 1;
	memcpy(y, data, dnnl_memory_desc_get_size(&v->plain));
	dnnl_memory_destroy(plain);
	return 0;
}

void free_convolution(convolution *v) {
	if (v->primitive) dnnl_primitive_destroy(v->primitive);
	if (v->image) dnnl_memory_destroy(v->image);
	if (v->weights) dnnl_memory_destroy(v->weights);
	if (v->result) dnnl_memory_destroy(v->result);
	dnnl_stream_destroy(v->stream);
	dnnl_engine_destroy(v->engine);
	free(v);
}
