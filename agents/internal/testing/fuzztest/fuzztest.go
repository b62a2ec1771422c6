// Package fuzztest is what fuzz targets share: mutants of good input that every test run tries.
package fuzztest

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// mutants is how many there are of each sample in a plain test run.
const mutants = 40

// odd is what decoders of numbers, texts and documents may fail at.
var odd = []string{
	"", "\x00", "\n", "\xff\xff\xff\xff\xff\xff\xff\xff", "-1", "0", "1e999", "1e308", "NaN", ".nan", ".inf", "null", "true", "[]", "{}",
	`""`, `"`, "[[[[[[[[",
	"9223372036854775807", "9223372036854775808", "-9223372036854775809", "9223372036855", "\x00\x00\x00\x80", "é\u202e", ": ", "- ", ",",
}

// Add gives a target samples of what its decoder takes, and some mutants of each, always the same ones.
func Add(f *testing.F, samples ...[]byte) {
	f.Helper()
	chance := rand.New(rand.NewPCG(1, uint64(len(samples))))
	for _, sample := range samples {
		f.Add(sample)
		for range mutants {
			f.Add(mutant(chance, sample))
		}
	}
}

// mutant is a sample with one to three edits.
func mutant(chance *rand.Rand, sample []byte) []byte {
	changed := slices.Clone(sample)
	for range 1 + chance.IntN(3) {
		changed = edit(chance, changed)
	}
	return changed
}

func edit(chance *rand.Rand, content []byte) []byte {
	begin := chance.IntN(len(content) + 1)
	end := min(len(content), begin+chance.IntN(12))
	switch chance.IntN(5) {
	case 0:
		return content[:begin]
	case 1:
		return slices.Concat(content[:end], content[begin:end], content[begin:end], content[end:])
	case 2:
		return slices.Concat(content[:begin], content[end:])
	case 3:
		if begin == len(content) {
			return content
		}
		flipped := slices.Clone(content)
		flipped[begin] ^= 1 << chance.IntN(8)
		return flipped
	default:
		return slices.Concat(content[:begin], []byte(odd[chance.IntN(len(odd))]), content[end:])
	}
}
