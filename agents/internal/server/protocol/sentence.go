package protocol

import (
	"strings"
	"unicode/utf8"
)

// mostSentence is how many characters a server takes of a detail.
const mostSentence = 2000

// Sentence is a text as a server takes it for a detail: without characters that steer a terminal, and not too long. What
// people and programs of the host wrote may be in it, and a server that refuses a poll for it hears nothing of the agent.
func Sentence(text string) string {
	text = strings.Map(func(r rune) rune {
		if steers(r) {
			return utf8.RuneError
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= mostSentence {
		return text
	}
	return string([]rune(text)[:mostSentence-1]) + "…"
}

// steers is whether a character controls a terminal, or turns the direction of a line. Line breaks and tabs may be in a sentence.
func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	}
	return r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
