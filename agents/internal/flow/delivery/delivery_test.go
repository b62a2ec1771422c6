package delivery_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"downlink/agents/internal/flow/delivery"
)

func table(rows *[][]int64) delivery.Row {
	return func(block int64, moments ...int64) { *rows = append(*rows, append([]int64{block}, moments...)) }
}

// TestLongRunsHaveFewRows: the rule needs the block's number alone, and Next goes over the kept ones.
func TestLongRunsHaveFewRows(t *testing.T) {
	require.EqualValues(t, 1, delivery.Stride(65535))
	require.EqualValues(t, 2, delivery.Stride(65536))
	require.EqualValues(t, 2, delivery.Stride(131071))
	require.EqualValues(t, 4, delivery.Stride(131072))
	blocks, rows := delivery.Blocks{Bytes: 16}, 0
	next := blocks.Next(0)
	for block := range int64(1 << 18) {
		if delivery.IsKept(block) {
			require.Equal(t, block, next)
			next = blocks.Next((block + 1) * 16)
			rows++
		}
	}
	require.Equal(t, 65536+2*32768, rows, "of 262,144 blocks")
}

// TestStampsAreOfTheBlocksThatLeft: of blocks in one buffer the last alone has the kernel's stamp, unless they left in one segment.
func TestStampsAreOfTheBlocksThatLeft(t *testing.T) {
	var rows [][]int64
	sent := delivery.NewSentTCP(1000, 65483, table(&rows))
	sent.Stamp(999, 10)
	sent.Stamp(3999, 20) // 1 and 2 were in its buffer
	sent.Stamp(999, 30)  // sent again
	sent.Stamp(4999, 40)
	require.Equal(t, [][]int64{{0, 10}, {3, 20}, {4, 40}}, rows)
	require.EqualValues(t, 3, sent.Rows)

	rows = nil
	messages := delivery.NewSentTCP(16, 1448, table(&rows))
	messages.Stamp(15, 10)
	messages.Stamp(63, 20)
	require.Equal(t, [][]int64{{0, 10}, {1, 20}, {2, 20}, {3, 20}}, rows, "one segment")
}

// TestNumbersOfBytesGoRoundAndRound: the kernel counts modulo 2^32.
func TestNumbersOfBytesGoRoundAndRound(t *testing.T) {
	const bytes = 1 << 20
	var rows [][]int64
	sent := delivery.NewSentTCP(bytes, 1448, table(&rows))
	for block := range int64(10000) {
		sent.Stamp(uint32((block+1)*bytes-1), block)
	}
	require.Len(t, rows, 10000)
	require.Equal(t, []int64{9999, 9999}, rows[9999])
}

// TestDataThatWaitForAHole are there when the program is woken; others when the kernel had them, however late it reads.
func TestDataThatWaitForAHole(t *testing.T) {
	var rows [][]int64
	half := delivery.NewDeliveredTCP(100, table(&rows))
	half.Take(delivery.Read{End: 100, StampUs: 1000, AtUs: 1050, HasWaited: true})
	half.Take(delivery.Read{End: 200, StampUs: 2000, AtUs: 9000}) // a busy reader
	half.Take(delivery.Read{End: 250, StampUs: 12000, AtUs: 40000, HasWaited: true, Disordered: 3})
	half.Take(delivery.Read{End: 300, StampUs: 13000, AtUs: 40001, Disordered: 3})
	half.Take(delivery.Read{End: 400, StampUs: 14000, AtUs: 40002, Disordered: 3})
	half.Take(delivery.Read{End: 500, StampUs: 50000, AtUs: 50040, HasWaited: true, Disordered: 3})
	half.Take(delivery.Read{End: 600, StampUs: 2000000, AtUs: 2000900, HasWaited: true, Disordered: 3})
	require.Equal(t, [][]int64{
		{0, 1000, 1000}, {1, 2000, 2000}, {2, 40000, 40001}, {3, 14000, 40002}, {4, 50000, 50000}, {5, 2000000, 2000000},
	}, rows)
}

// TestUnitsInAnyOrder holds both halves against what follows from the moments of the units, whatever the sizes.
func TestUnitsInAnyOrder(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 12))
		unit, block := 1+random.Int64N(1400), 1+random.Int64N(5000)
		const units = 300
		sentAt, arrivedAt, order := make([]int64, units), make([]int64, units), random.Perm(units)
		var left, came [][]int64
		sender, receiver := delivery.NewSentUnits(block, unit, table(&left)), delivery.NewDeliveredUnits(block, unit, table(&came))
		for i := range sentAt {
			sentAt[i] = int64(10 * i)
			sender.Sent(int64(i), sentAt[i])
			sender.Sent(int64(random.IntN(i+1)), sentAt[i]+5) // again
		}
		has, inOrder := map[int64]bool{}, int64(0)
		readyAt := make([]int64, units)
		for i, which := range order {
			at := int64(100000 + 10*i)
			arrivedAt[which], has[int64(which)] = at, true
			for has[inOrder] {
				readyAt[inOrder] = at
				inOrder++
			}
			receiver.Arrived(int64(which), inOrder, at)
		}
		whole := units * unit / block
		require.Len(t, left, int(whole), "seed %d", seed)
		require.Len(t, came, int(whole), "seed %d", seed)
		for n := range whole {
			last := ((n+1)*block - 1) / unit
			arrived := int64(0)
			for u := n * block / unit; u <= last; u++ {
				arrived = max(arrived, arrivedAt[u])
			}
			require.Equal(t, []int64{n, sentAt[last]}, left[n], "seed %d", seed)
			require.Equal(t, []int64{n, arrived, readyAt[last]}, came[n], "seed %d", seed)
		}
	}
}
