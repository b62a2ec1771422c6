package linkcontrol

// Leave gives a session back for tests of both ends.
func (c *Client) Leave() error { return c.leave() }
