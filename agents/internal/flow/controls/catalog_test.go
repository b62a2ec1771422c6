package controls

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every control has a page of its own, which names its options and their defaults, and a line in the pages' list.
func TestThePagesOfTheControlsNameEveryOption(t *testing.T) {
	pages := "../../../../docs/controls"
	list, err := os.ReadFile(filepath.Join(pages, "README.md"))
	require.NoError(t, err)
	for i := range catalog {
		control := &catalog[i]
		require.Contains(t, string(list), "("+control.Name+".md)")
		page, err := os.ReadFile(filepath.Join(pages, control.Name+".md"))
		require.NoError(t, err)
		for _, option := range control.Options {
			require.Regexp(t, "(?m)^.*`"+option.Name+"`.*\\b"+option.Default+"\\b", string(page), "%s of %s", option.Name, control.Name)
		}
	}
}
