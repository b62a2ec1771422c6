package uplink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"downlink/agents/internal/server/protocol"
)

const (
	// UploadsInFlight is how many requests with chunks are on their way at a time: one by one, each would cost a round trip
	// of its own.
	UploadsInFlight = 4
	// slowestBps is what is left to one of them on a return channel of 150 kb/s.
	slowestBps = 150e3 / UploadsInFlight
	// MaxBundleChunks is the most that the server takes in one request.
	MaxBundleChunks = 64
)

// Chunk is one chunk on its way.
type Chunk struct {
	protocol.RunRef
	Flow     int
	Point    protocol.Point
	Sequence int
	Body     []byte
}

func (c *Chunk) digest() string {
	digest := sha256.Sum256(c.Body)
	return hex.EncodeToString(digest[:])
}

// patience is how long an upload of so many bytes may take.
func (c *Client) patience(bytes int) time.Duration {
	bps := min(slowestBps, c.Pace.Bps()/UploadsInFlight)
	return replyTimeout + time.Duration(float64(bytes)*8/bps*float64(time.Second))
}

// PutChunk uploads one chunk; when it is already stored that is success too.
func (c *Client) PutChunk(ctx context.Context, chunk Chunk) error {
	path := fmt.Sprintf("/api/v1/agent/runs/%s/traces/%d/%s/%d",
		url.PathEscape(chunk.RunID), chunk.Flow, url.PathEscape(string(chunk.Point)), chunk.Sequence)
	headers := map[string]string{
		"Content-Type":     "application/zstd",
		"X-Content-SHA256": chunk.digest(),
		"X-Attempt":        strconv.Itoa(chunk.Attempt),
	}
	var reply protocol.ChunkReply
	err := c.upload(ctx, http.MethodPut, path, chunk.Body, headers, &reply)
	if err == nil && reply.Stored == nil {
		err = &StatusError{Status: http.StatusOK}
	}
	return err
}

// PostChunks uploads chunks of one attempt in one request, at most MaxBundleChunks and 8 MiB with their heads. The answers
// are those that PutChunk would have given, in the order of the chunks; an error says nothing about any of them.
func (c *Client) PostChunks(ctx context.Context, ref protocol.RunRef, chunks []Chunk) (answers []error, err error) {
	body, err := bundle(chunks)
	if err != nil {
		return nil, err
	}
	headers := map[string]string{"Content-Type": "application/octet-stream", "X-Attempt": strconv.Itoa(ref.Attempt)}
	var reply protocol.ChunksReply
	err = c.upload(ctx, http.MethodPost, "/api/v1/agent/runs/"+url.PathEscape(ref.RunID)+"/chunks", body, headers, &reply)
	if err == nil && len(reply.Chunks) != len(chunks) {
		err = &StatusError{Status: http.StatusOK}
	}
	if err != nil {
		return nil, err
	}
	answers = make([]error, len(chunks))
	for i := range chunks {
		answers[i] = chunks[i].judge(&reply.Chunks[i])
	}
	return answers, nil
}

// bundle writes a line about each chunk and the chunk, one after the other.
func bundle(chunks []Chunk) ([]byte, error) {
	var body bytes.Buffer
	lines := json.NewEncoder(&body)
	for i := range chunks {
		chunk := &chunks[i]
		head := protocol.ChunkHead{Flow: chunk.Flow, Point: chunk.Point, Sequence: chunk.Sequence, SHA256: chunk.digest(), Size: len(chunk.Body)}
		if err := lines.Encode(head); err != nil {
			return nil, fmt.Errorf("encode the head of a chunk: %w", err)
		}
		body.Write(chunk.Body)
	}
	return body.Bytes(), nil
}

// judge returns nil when the answer says that this chunk is stored.
func (c *Chunk) judge(answer *protocol.ChunkAnswer) error {
	isOfThis := answer.Flow == c.Flow && answer.Point == c.Point && answer.Sequence == c.Sequence
	if isOfThis && answer.Status == http.StatusOK && answer.Stored != nil {
		return nil
	}
	if !isOfThis {
		return &StatusError{Status: http.StatusOK}
	}
	return &StatusError{Status: answer.Status, Problem: protocol.Problem{Code: answer.Code, Message: answer.Message}}
}
