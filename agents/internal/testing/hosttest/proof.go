package hosttest

import "testing"

// Parts of the long proof (docs/testing.md).
const (
	Kernel = "kernel"
	Faults = "faults"
)

// Verify leaves a test to a part of the long proof, with the reason: under -short, which is the quick proof, it skips.
func Verify(t testing.TB, part, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("verify %s: %s", part, why)
	}
}

// Measures is Verify for a test that asserts rates, ratios or milliseconds: a busy machine can spoil it, so that a sample of
// the long proof does without.
func Measures(t testing.TB, part, why string) {
	t.Helper()
	Verify(t, part, why)
}
