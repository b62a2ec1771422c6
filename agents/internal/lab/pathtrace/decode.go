package pathtrace

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Read reads and checks a file.
func Read(file io.Reader) (*Trace, error) {
	packed, err := io.ReadAll(io.LimitReader(file, mostPackedBytes+1))
	if err != nil {
		return nil, wrong("file", "See why it cannot be read.", "%v", err)
	}
	if len(packed) > mostPackedBytes {
		return nil, wrong("file", "Make a shorter path.", "more than %d bytes, which is the most", mostPackedBytes)
	}
	return Decode(packed)
}

// Load reads and checks the file of a path.
func Load(path string) (*Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, wrong("file", "Name a path trace that is there.", "%v", err)
	}
	defer func() { _ = file.Close() }()
	return Read(file)
}

// Decode takes a whole file. Memory is bounded by what is really in it, and by the most rows that there may be.
func Decode(packed []byte) (*Trace, error) {
	if err := checkFrame(packed); err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostUnpackedBytes))
	if err != nil {
		return nil, notWhole(err)
	}
	defer decoder.Close()
	text := bufio.NewReaderSize(decoder, mostHeaderBytes)
	line, err := text.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, wrong("header", another, "no line ends within %d bytes", mostHeaderBytes)
	case err != nil:
		return nil, notWhole(err)
	}
	header, err := readHeader(line)
	if err != nil {
		return nil, err
	}
	columns, err := readColumns(header, text)
	if err != nil {
		return nil, err
	}
	if err := checkRanges(header, columns); err != nil {
		return nil, err
	}
	trace := &Trace{Header: header, SHA256: digest(packed), Duration: microseconds(header.DurationUs)}
	if trace.Paths, err = join(header, columns); err != nil {
		return nil, err
	}
	return trace, checkLengths(trace)
}

const mostUnpackedBytes = mostHeaderBytes + mostRows*8*8

// checkFrame refuses what says itself that it is too long, before anything is unpacked.
func checkFrame(packed []byte) error {
	var frame zstd.Header
	if err := frame.Decode(packed); err != nil || frame.Skippable || !frame.HasFCS {
		return notWhole(errors.Join(err, errors.New("no frame that announces its size")))
	}
	if frame.FrameContentSize > mostUnpackedBytes {
		return wrong("file", "Make a shorter path.", "it unpacks to more than %d bytes", mostUnpackedBytes)
	}
	return nil
}

func notWhole(err error) error {
	return wrong("file", copyAgain, "it is not one whole zstd frame (%v)", err)
}

func digest(packed []byte) string {
	sum := sha256.Sum256(packed)
	return hex.EncodeToString(sum[:])
}

func microseconds(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// columns are the values by field and row.
type columns struct{ atUs, path, hop, node, delayNs, rateBps, lossPpb, gapUs []int64 }

func readColumns(header Header, text io.Reader) (read columns, err error) {
	hash := sha256.New()
	text = io.TeeReader(text, hash)
	for _, column := range []*[]int64{
		&read.atUs, &read.path, &read.hop, &read.node, &read.delayNs, &read.rateBps, &read.lossPpb, &read.gapUs,
	} {
		if *column, err = readColumn(text, header.Rows); err != nil {
			return read, err
		}
	}
	if n, err := io.ReadFull(text, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return read, wrong("columns", copyAgain, "more bytes than announced, or a frame that does not end well")
	}
	if hex.EncodeToString(hash.Sum(nil)) != header.ColumnsSHA256Hex {
		return read, wrong("columns", copyAgain, "their SHA-256 is not the one in the header: the file was altered")
	}
	return read, nil
}

// readColumn grows with what comes, not with what was announced.
func readColumn(text io.Reader, rows int) (column []int64, err error) {
	block := make([]byte, 8*min(rows, 4096))
	previous := int64(0)
	for len(column) < rows {
		part := block[:8*min(rows-len(column), len(block)/8)]
		if _, err := io.ReadFull(text, part); err != nil {
			return nil, wrong("columns", copyAgain, "the file ends before the %d rows that are announced (%v)", rows, err)
		}
		for ; len(part) > 0; part = part[8:] {
			previous += int64(binary.LittleEndian.Uint64(part)) // wrapping is the format
			column = append(column, previous)
		}
	}
	return column, nil
}
