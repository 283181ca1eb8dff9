// What kernels of C compute, over dense float32 in row-major order.
#include <stddef.h>

void use_threads(int n);

// product: c[batch][m][n] = a[batch][m][k] * b[batch][k][n]
void product(int batch, int m, int n, int k, const float *a, const float *b, float *c);
float sum(size_t n, const float *x);

typedef struct convolution convolution;
// new_convolution returns NULL where oneDNN has no such form.
convolution *new_convolution(int winograd, int c, int m, int h, int w, int taps, int stride, int pad, int groups,
	const float *image, const float *weights);
void run_convolution(convolution *v);
int convolution_result(convolution *v, float *y); // 0 if it went well
void free_convolution(convolution *v);

// Loops over n elements, and over rows of n.
void affine(size_t n, const float *a, const float *b, float *y);
void add(size_t n, const float *a, const float *b, float *y);
void tree(size_t n, const float *a, const float *b, float *y);
void exponential(size_t n, const float *a, const float *b, float *y);
void gelu(size_t n, const float *a, const float *b, float *y);
void clip(size_t n, const float *a, const float *b, float *y);
void copy3(size_t n, const float *a, const float *b, float *y); // copies 3n/2, as much as reading a and b and writing y
void widen(size_t n, const unsigned char *x, float *y);
void softmax(size_t rows, size_t n, const float *x, float *y);
void layer_norm(size_t rows, size_t n, const float *x, const float *scale, const float *bias, float *y);
