package chunk

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Format is the only chunk format of this version.
const Format = "dl-chunk/2"

// MaxSamples is the most samples that one chunk holds.
const MaxSamples = 5000

const maxUnpackedBytes = 32 << 20

// Header is the first line of a chunk.
type Header struct {
	Format   string   `json:"format"`
	RunID    string   `json:"run_id"`
	Attempt  int      `json:"attempt"`
	Flow     int      `json:"flow"`
	Point    string   `json:"point"`
	Sequence int      `json:"sequence"`
	Samples  int      `json:"samples"`
	Fields   []string `json:"fields"`
}

// Encode packs columns, one per field of the header, each of header.Samples values.
func Encode(header Header, columns [][]int64) ([]byte, error) {
	if err := check(header, columns); err != nil {
		return nil, err
	}
	line, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("encode chunk header: %w", err)
	}
	encoder, err := compressor()
	if err != nil {
		return nil, fmt.Errorf("start compressor: %w", err)
	}
	plain := borrow()
	defer unpacked.Put(plain)
	*plain = append(append((*plain)[:0], line...), '\n')
	*plain = slices.Grow(*plain, 8*len(columns)*header.Samples)
	for _, column := range columns {
		*plain = appendDeltas(*plain, column)
	}
	return encoder.EncodeAll(*plain, make([]byte, 0, len(*plain)/8)), nil
}

// unpacked are the columns of chunks before they are packed, a megabyte each, to be used again.
var unpacked sync.Pool

func borrow() *[]byte {
	if plain, ok := unpacked.Get().(*[]byte); ok {
		return plain
	}
	return new([]byte)
}

// compressor is one for all chunks: a new one allocates 20 MB before it has packed a byte. Flows take turns at it.
var compressor = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) })

func check(header Header, columns [][]int64) error {
	if header.Samples < 1 || header.Samples > MaxSamples {
		return fmt.Errorf("a chunk holds 1 to %d samples, not %d", MaxSamples, header.Samples)
	}
	if len(columns) != len(header.Fields) {
		return fmt.Errorf("%d columns for %d fields", len(columns), len(header.Fields))
	}
	for i, column := range columns {
		if len(column) != header.Samples {
			return fmt.Errorf("column %s has %d values instead of %d", header.Fields[i], len(column), header.Samples)
		}
	}
	return nil
}

func appendDeltas(out []byte, column []int64) []byte {
	at, previous := len(out), int64(0)
	out = append(out, make([]byte, 8*len(column))...)
	for i, value := range column {
		binary.LittleEndian.PutUint64(out[at+8*i:], uint64(value-previous)) // wrapping is the format
		previous = value
	}
	return out
}

// Decode is the inverse of Encode; it refuses what the format does not allow.
func Decode(packed []byte) (Header, [][]int64, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpackedBytes))
	if err != nil {
		return Header{}, nil, fmt.Errorf("start decompressor: %w", err)
	}
	defer decoder.Close()
	plain, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return Header{}, nil, fmt.Errorf("unpack chunk: %w", err)
	}
	line, body, found := bytes.Cut(plain, []byte{'\n'})
	if !found {
		return Header{}, nil, errors.New("chunk has no header line")
	}
	var header Header
	if err := json.Unmarshal(line, &header); err != nil {
		return Header{}, nil, fmt.Errorf("read chunk header: %w", err)
	}
	columns, err := readColumns(header, body)
	return header, columns, err
}

func readColumns(header Header, body []byte) ([][]int64, error) {
	if header.Format != Format {
		return nil, fmt.Errorf("unknown chunk format %q", header.Format)
	}
	if header.Samples < 1 || header.Samples > MaxSamples || len(body) != 8*header.Samples*len(header.Fields) {
		return nil, fmt.Errorf("%d bytes of columns do not hold %d fields of %d samples", len(body), len(header.Fields), header.Samples)
	}
	columns := make([][]int64, len(header.Fields))
	for i := range columns {
		column := make([]int64, header.Samples)
		previous := int64(0)
		for j := range column {
			previous += int64(binary.LittleEndian.Uint64(body)) // wrapping is the format
			column[j], body = previous, body[8:]
		}
		columns[i] = column
	}
	return columns, nil
}
