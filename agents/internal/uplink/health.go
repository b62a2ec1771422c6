package uplink

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// ServerDate asks whether the server is there, and returns its clock to the second. It is no poll, so it does not
// disturb an agent that runs with the same identity.
func (c *Client) ServerDate(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/healthz", nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("make request: %w", err)
	}
	reply, err := c.http.Do(request)
	if err != nil {
		return time.Time{}, fmt.Errorf("reach the server: %w", err)
	}
	defer func() { _ = reply.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, replyLimit))
	if reply.StatusCode != http.StatusOK {
		return time.Time{}, &StatusError{Status: reply.StatusCode}
	}
	date, err := http.ParseTime(reply.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the server's date: %w", err)
	}
	return date, nil
}
