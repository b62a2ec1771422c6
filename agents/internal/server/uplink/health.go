package uplink

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Greet asks whether the server is there, and returns its clock to the second and the version of the protocol that it speaks; 0
// where it does not say. It is no poll, so it does not disturb an agent that runs with the same identity.
func (c *Client) Greet(ctx context.Context) (date time.Time, speaks int, err error) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/healthz", nil)
	if err != nil {
		return time.Time{}, 0, fmt.Errorf("make request: %w", err)
	}
	reply, err := c.http.Do(request)
	if err != nil {
		return time.Time{}, 0, fmt.Errorf("reach the server: %w", err)
	}
	defer func() { _ = reply.Body.Close() }()
	content, _ := io.ReadAll(io.LimitReader(reply.Body, replyLimit))
	if reply.StatusCode != http.StatusOK {
		return time.Time{}, 0, &StatusError{Status: reply.StatusCode}
	}
	var said struct {
		AgentProtocol int `json:"agent_protocol"`
	}
	_ = json.Unmarshal(content, &said) // a server from before says less
	date, err = http.ParseTime(reply.Header.Get("Date"))
	if err != nil {
		return time.Time{}, 0, fmt.Errorf("read the server's date: %w", err)
	}
	return date, said.AgentProtocol, nil
}
