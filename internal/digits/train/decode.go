package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// decodeModel reads the weights and the stored measurement back from a model that encodeModel
// wrote. It reads no other model: the graph itself is taken to be the network of this program.
func decodeModel(file []byte) (w *weights, accuracy string, err error) {
	w = newWeights()
	windows := w.windows()
	missing := parameters()
	err = fields(file, func(field protowire.Number, v []byte, _ uint64) error {
		switch field {
		case modelMetadata:
			key, value, err := decodeEntry(v)
			if key == metaAccuracy {
				accuracy = value
			}
			return err
		case modelGraph:
			return fields(v, func(field protowire.Number, v []byte, _ uint64) error {
				if field != graphInitializer {
					return nil
				}
				p, raw, err := decodeTensor(v)
				if err != nil {
					return err
				}
				i := slices.IndexFunc(parameters(), func(q parameter) bool { return q.name == p.name })
				if i < 0 {
					return fmt.Errorf("tensor %q is not of this network", p.name)
				}
				want := parameters()[i]
				if !slices.Equal(p.shape, want.shape) || len(raw) != 4*want.count() {
					return fmt.Errorf("tensor %q has shape %v and %d bytes, want %v and %d",
						p.name, p.shape, len(raw), want.shape, 4*want.count())
				}
				for j := range *windows[i] {
					(*windows[i])[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
				}
				missing = slices.DeleteFunc(missing, func(q parameter) bool { return q.name == p.name })
				return nil
			})
		}
		return nil
	})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("tensor %q is missing", missing[0].name)
	}
	return w, accuracy, err
}

func decodeEntry(entry []byte) (key, value string, err error) {
	err = fields(entry, func(field protowire.Number, v []byte, _ uint64) error {
		switch field {
		case entryKey:
			key = string(v)
		case entryValue:
			value = string(v)
		}
		return nil
	})
	return key, value, err
}

// decodeTensor returns the name, the shape and the raw bytes, which stay part of tensor.
func decodeTensor(tensor []byte) (p parameter, raw []byte, err error) {
	err = fields(tensor, func(field protowire.Number, v []byte, n uint64) error {
		switch field {
		case tensorDims:
			for len(v) > 0 {
				d, size := protowire.ConsumeVarint(v)
				if size < 0 {
					return protowire.ParseError(size)
				}
				p.shape = append(p.shape, int(d))
				v = v[size:]
			}
		case tensorDataType:
			if n != dataTypeFloat {
				return fmt.Errorf("element type %d, want %d (float32)", n, dataTypeFloat)
			}
		case tensorName:
			p.name = string(v)
		case tensorRaw:
			raw = v
		}
		return nil
	})
	return p, raw, err
}

// fields calls visit for each field of a message: with the bytes of a length-delimited field or
// the number of a varint. Other wire types are skipped.
func fields(message []byte, visit func(field protowire.Number, v []byte, n uint64) error) error {
	for len(message) > 0 {
		field, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		var v []byte
		var n uint64
		switch kind {
		case protowire.BytesType:
			v, size = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(message)
		default:
			size = protowire.ConsumeFieldValue(field, kind, message)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		if err := visit(field, v, n); err != nil {
			return err
		}
	}
	return nil
}
