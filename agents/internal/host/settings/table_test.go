package settings

import (
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documented reads docs/settings.csv: name, scope, form, least, most.
func documented(t *testing.T) [][]string {
	t.Helper()
	file, err := os.Open("../../../../docs/settings.csv")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func TestTheTableIsTheDocumentedOne(t *testing.T) {
	scopes := map[string]Scope{"namespace": ScopeNamespace, "host": ScopeHost, "route": ScopeRoute}
	forms := map[string]int{"word": 0, "one": 1, "three": 3}
	rows := documented(t)
	require.Len(t, rows, len(table))
	for _, row := range rows {
		takes, known := table[row[0]]
		require.True(t, known, row[0])
		require.Equal(t, scopes[row[1]], takes.scope, row[0])
		require.Equal(t, forms[row[2]], takes.count, row[0])
		if row[2] != "word" {
			require.Equal(t, row[3:], []string{strconv.FormatInt(takes.least, 10), strconv.FormatInt(takes.most, 10)}, row[0])
		}
	}
}

func TestEachBoundIsTakenAndTheNextValueBeyondItIsNot(t *testing.T) {
	for name, takes := range table {
		if takes.count == 0 {
			continue
		}
		value := func(n int64) string {
			return strings.TrimSpace(strings.Repeat(strconv.FormatInt(n, 10)+" ", takes.count))
		}
		require.True(t, takes.accepts(value(takes.least)), name)
		require.True(t, takes.accepts(value(takes.most)), name)
		require.False(t, takes.accepts(value(takes.least-1)), name)
		require.False(t, takes.accepts(value(takes.most+1)), name)
	}
}

func TestValuesOfAnotherShapeAreNotTaken(t *testing.T) {
	for name, values := range map[string][]string{
		rmem: {"", "4096", "4096 131072", "131072 4096 60000000", "4096 131072 60000000 1", "4096 131072 99999999999",
			"4096 x 60000000"},
		hystart:                        {"", "+1", "0x1", "1; reboot", "1 1", "\u0661", "00000000001"},
		"net.core.default_qdisc":       {"", "../fq", "FQ", "fq codel", strings.Repeat("a", 16)},
		"net.ipv4.tcp_mem":             {"1 1 1", "0 0 0"},
		"net.ipv4.tcp_no_metrics_save": {"0"},
	} {
		for _, value := range values {
			require.False(t, table[name].accepts(value), "%s=%q", name, value)
		}
	}
	require.True(t, table["net.core.default_qdisc"].accepts("fq_codel"))
}

func TestAValueThatWouldStopOtherConnectionsIsRefusedBeforeAnythingChanges(t *testing.T) {
	h := makeHost()
	k := NewKeeper(h, place(t.TempDir()))
	err := k.Apply("run", wanted(map[string]string{hystart: "1", "net.ipv4.tcp_mem": "1 1 1"}))
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "4096")
	require.Equal(t, "0", h.Values[Key{Name: hystart}])
	require.False(t, k.Pending())
}
