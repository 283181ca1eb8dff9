package conformance

import "regexp"

// A Difference is one between Berth and ONNX Runtime that is meant to be.
type Difference struct {
	Operators string // a pattern for their full names
	Case      string // a pattern for the description of a model, its inputs and what differs
	Why       string
}

// Differences are those that random models of one node show in ONNX Runtime 1.23.2, the first
// that fits. The module compare takes any other for a fault, and docs/operators.md lists
// them.
//
// A case reads as "Elu, opset 9: FLOAT[2]{1 -3} alpha=2: absolute: y0 element 1 is ...";
// package main of compare says what kinds there are.
var Differences = []Difference{
	{"AffineGrid|BatchNormalization|BlackmanWindow|HammingWindow|HannWindow|DFT|STFT|Gelu|GroupNormalization|HardSwish|LayerNormalization|" +
		"LeakyRelu|LpNormalization|LogSoftmax|Mish|RMSNormalization|ReduceL2|ReduceLogSumExp|Shrink|Sigmoid|SimplifiedLayerNormalization|Sin",
		": single: ", "of DOUBLE, ONNX Runtime computes with parts in single precision or by approximations"},
	{"BlackmanWindow", ": absolute: ", "of a sum that is 0, ONNX Runtime leaves the rounding errors of single precision"},
	{"Celu|Elu|Selu|LogSoftmax|HardSwish|Mish|Sigmoid|HardSigmoid|Softmax|Softplus|Sin|LSTM|GRU|(com.microsoft.)?(Gelu|BiasGelu|FastGelu|QuickGelu)",
		": absolute: ", "near 0 and in the tails, where ONNX Runtime's formula cancels or is cut off, Berth keeps the precision of the result"},
	{"Shrink|Mod", "INT.*: (values|step): ", "of integers, ONNX Runtime computes in floating point, which has too few digits for large ones"},

	{"Clip", "is [-+]Inf, ONNX Runtime has -?(3.40282347e\\+38|1.79769313e\\+308|65504)", "without a bound, an infinite element stays what it is, as in the reference implementation"},
	{"Erf|Sign|LogSoftmax|PRelu|ReduceMin|ReduceMax|ReduceLogSumExp|ReduceMean|ReduceSum|Attention|Softmax|TopK", ": NaN: ", "Berth gives NaN where the maths do, and an " +
		"infinite sum of exponentials where an element is infinite; ONNX Runtime loses NaN, or makes it of 0 times infinity. A row of Attention of which all is masked is 0, as the newest specification says"},
	{"Hardmax|ai.onnx.ml.TreeEnsemble.*", ": (values|step): ", "NaN is the largest in Berth, and passed over in ONNX Runtime"},

	{"Attention", "softcap=.*: (values|NaN): ", "the cap comes before masks, as the newest specification says; ONNX Runtime 1.23 has it behind them, so that masked elements count"},
	{"Attention", "is_causal=1.*: values: ", "ONNX Runtime forgets is_causal where there is one query, or a mask of BOOL beside a cache"},
	{"Attention", "FLOAT16.*: values: ", "in FLOAT16, scores are computed in single precision and rounded once; ONNX Runtime rounds them on the way, or is wrong where it is right in FLOAT"},
	{"com.microsoft.GroupQueryAttention", "local_window_size=.*: values: ", "a window counts the query itself, as in ONNX Runtime since 1.24; before, it had one more key"},
	{"com.microsoft.GroupQueryAttention", "head_size % 16", "ONNX Runtime turns no heads of other sizes than multiples of 16"},

	{"AveragePool|MaxPool", "auto_pad=\"VALID\".*: shape: ", "with ceil_mode and VALID, the extent is that of the specification, without a window that begins behind the last whole one"},
	{"AveragePool", "count_include_pad=1.*: values: ", "padding at the end of an axis counts like that at its beginning; ONNX Runtime leaves it out since version 19"},
	{"com.microsoft.QLinearAveragePool|AveragePool|MaxPool|LpPool|ConvTranspose|Conv", "SAME_.*: (values|shape): ", "SAME pads by nothing where strides pass over more than the kernel; ONNX Runtime takes that for negative padding, or less output"},
	{"MaxPool", ": (values|step): y1 ", "the index is that of the largest element; ONNX Runtime has none of 8-bit integers where that is the least of the type, and goes on from a wrong place"},
	{"Col2Im", ": (values|NaN): ", "of images that have not two axes, ONNX Runtime places blocks wrongly where these leave gaps or pads"},
	{"GridSample", "cubic.*border.*: values: ", "coordinates beyond the border are moved to it before they are interpolated, as in the reference implementation"},
	{"Resize", "align_corners.*: values: ", "the corners are those of the extent times the scale, which may be no integer, as in the reference implementation"},
	{"Resize", "tf_crop_and_resize.*: values: ", "the region of interest also holds along axes whose scale is 1, where ONNX Runtime does not crop"},
	{"Resize|Upsample", ": step: ", "integers lose their fraction, which depends on rounding where the exact value is an integer"},
	{"Pad", "wrap.*: (values|step): ", "padding by more than the extent goes round again; ONNX Runtime reads beside the data"},
	{"Gather", "STRING.*: values: .* ONNX Runtime has \"\"", "ONNX Runtime leaves some strings of large slices empty"},
	{"Slice", "2.14748365e\\+09.*: shape: ", "the largest integer as an end lies behind the last element in backward steps too; ONNX Runtime takes it for the beginning"},
	{"DFT", "INT64\\[\\].*: values: ", "what lies behind dft_length is left out; ONNX Runtime is wrong there in DOUBLE"},
	{"LRN", ": values: ", "each sum of squares is made anew; ONNX Runtime subtracts what leaves the window, and loses digits"},
	{"InstanceNormalization", "( 1)+\\].*: values: ", "a single element less its mean is 0; ONNX Runtime leaves a rounding error"},
	{"ReduceMean|ReduceSum", "e\\+30.*: values: ", "where huge elements cancel, the sum depends on the order"},
	{"NonZero", ": shape: ", "the indices of a scalar have no rows, as the specification says"},
	{"StringNormalizer", ": values: ", "letters beyond ASCII change their case too; ONNX Runtime follows the locale, and needs it installed"},
	{"Dropout", "opset (7|8|9|10|11):", "outside of training all elements are kept, and the mask says so; before version 12, ONNX Runtime gives zeros"},

	{"Reduce.*", "noop_with_empty_axes=1.*(count == 1 was false|: shape: )", "ONNX Runtime fails or reduces where noop_with_empty_axes is 1 and there are no axes"},
	{"ReduceLogSum|ReduceL.*|ReduceSumSquare", "noop_with_empty_axes=1.*: values: ", "no axes reduce each element on its own, by the function all the same, as the newest specification says"},
	{"Reduce.*", "\\[([0-9 ]* )?0( [0-9 ]*)?\\].*: (shape|NaN|values|step): ", "of no elements, ONNX Runtime returns 0 or what it was given; Berth the shape and the value that the specification says"},
	{"ReduceLogSumExp|ReduceLogSum|ReduceL2", "INT.*: (step|values): ", "of integers, Berth computes in DOUBLE and drops the fraction at the end; ONNX Runtime drops that of each exponential"},

	{"DequantizeLinear", "quantize_linear.cc", "ONNX Runtime refuses some blocks that are longer than the axis"},
	{"QuantizeLinear", "Inf.*: values: ", "what is infinite saturates; ONNX Runtime casts it to an integer first, from FLOAT16"},
	{"QuantizeLinear", "FLOAT16.*: step: ", "of FLOAT16, ONNX Runtime does not round the quotient but drops its fraction"},
	{"com.microsoft.QLinearSoftmax", ": values: ", "results are kept within the type; in ONNX Runtime they wrap round"},
	{"Gemm|com.microsoft.FusedGemm", "\\[0 \\d|\\d 0\\]", "of no products, ONNX Runtime does not multiply the bias by beta"},
	{"ai.onnx.ml.TreeEnsembleClassifier", "SOFTMAX.*: values: y1", "with votes for one class of two, ONNX Runtime leaves SOFTMAX and SOFTMAX_ZERO out"},

	{"(.*LayerNormalization|RMSNormalization)", "must be larger than 1", "ONNX Runtime normalises no single element"},
	{"LpNormalization|OneHot|Unique|Reduce.*", "ONNX Runtime crashes", "ONNX Runtime crashes on empty tensors"},
	{"MatMul|MatMulInteger", "cannot broadcast|type mismatch|: NaN: |\\[([0-9 ]* )?0( [0-9 ]*)?\\].*: values: ", "ONNX Runtime fails on some empty tensors, or leaves the sum of no products unset"},
	{"OneHot", "must have rank >= 1", "ONNX Runtime takes no scalar, which the specification allows"},
	{"Pad", "ParseData type mismatch", "ONNX Runtime cannot read constant axes of INT32"},
	{"CenterCropPad", "bound to different types", "ONNX Runtime cannot build the function of the specification for a shape of INT32"},
	{"Split", "Invalid num_outputs", "ONNX Runtime does not split an empty axis"},
	{"ai.onnx.ml.Binarizer", "is NaN", "ONNX Runtime refuses NaN"},
}

// Explain returns why the outputs of a model of an operator are to differ, or "".
func Explain(operator, text string) string {
	for _, d := range Differences {
		if regexp.MustCompile("^("+d.Operators+")$").MatchString(operator) && regexp.MustCompile(d.Case).MatchString(text) {
			return d.Why
		}
	}
	return ""
}
