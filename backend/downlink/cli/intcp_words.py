"""What the page of paper 004's figures says of each of them: what was found, and why. Numbers are of the archives."""

from __future__ import annotations

INTRODUCTION = (
    "# INTCP: what the campaigns found\n\n"
    "Yin et al. (“INTCP: Information-centric TCP for Satellite Network”, 2021) cut a path at every satellite. Their abstract claims 42 % "
    "less delay, 53 % less jitter and 60 % more throughput than TCP, and names neither the loss nor the TCP. Figures have no numbers. The "
    "authors' scripts have numbers for two of them; “INTCP” values there come from a script for split TCP. Figure 5 therefore has both.\n\n"
    "Tables give means by transport with 95 % intervals ([method](../method.md), section 11). Links are [emulated](../link-profiles.md); "
    "TCP is the kernel's. All figures use one set of options, except the buffer and `window_bytes` of Figures 5(a) and 5(b). "
    "[Each published value beside ours](../reproduction/yin-2021-intcp.md). "
    "Written by `make reproduction` (`downlink intcp-study`); do not edit.\n"
)
FIGURE_5A = (
    "End to end, TCP gets what the slower hop passes at each moment, plus what the queue between the hops holds. A relay that splits the "
    "path stores what the fast half brings and sends it in the slow half. From 4 s on, Cubic and Hybla match the authors' scripts. At 2 s "
    "the queue before the ground limits them: in virtual time Cubic gets 14.0 Mb/s with 1,000 packets and 17.5 with 3,000 (published: "
    "17.7). The scripts set 1,000 packets for the queue and 1,000 for the device.\n\n"
    "During the first slow half nothing is stored yet. At 10 s this leaves INTCP about 16.5 Mb/s in a run of 60 s; the scripts ran for "
    "180 s. From 10 to 50 s INTCP has 17 to 18 of its 18.9 Mb/s, because its rate law approaches each new rate in steps. There it has 1.45 "
    "times Cubic's goodput at 10 s (published for split TCP: 1.44). Our goal of 17.0 Mb/s is nine tenths of what the payload could have."
)
FIGURE_5C = (
    "A program writes 16 bytes every 5 ms. Delays run from the write until the message has arrived, or is available in order. The bounds "
    "below assume that a loss holds up all later messages for the round trip of the node that repairs it. INTCP agrees: 44, 76, 145, 321 "
    "and 468 ms in order (expected: 45, 77, 146, 319, 524). Its messages arrive first, with the least jitter.\n\n"
    "TCP is faster in order than this assumption gives (89, 131, 220, 418, 643 ms), because a small window collects messages: at 100 ms "
    "Reno sends 12,000 in 1,930 packets, Hybla in 7,470. Fewer packets are lost, and each loss holds up fewer messages. INTCP sends each "
    "message by itself. It is ahead in order by 32 to 38 % at 20 ms and by 22 to 31 % at 50 ms, and behind both from 200 ms on. Split Reno "
    "is fastest in order from 100 ms on.\n\n"
    "The hop lost 9,952 packets in 15 runs. Consumers asked for 289 messages again, all from 100 ms on: a repair that is lost too takes "
    "longer than the consumer's timeout. The last line below counts each of these against the hop."
)
PARTS = (
    "One mechanism off at a time, over the path of Figure 6 with a loss of 1e-3 on each hop:\n\n"
    "- **Repair at the hop** adds little goodput. End to end a lost unit waits for a timeout, and delay in order grows tenfold.\n"
    "- **Asking a new neighbour at once**, not after a timeout, adds up to a tenth of a window's goodput. Jitter falls to a tenth and a "
    "sixth in two windows; in the third it is 10.5 ms, and 7.3 ms with the timeout.\n"
    "- **The cache** does nothing for one flow, as expected.\n"
    "- **Rate by hop**: with `rate: end` nothing waits at a relay, and the [rate law](README.md#the-rate-law) raises a rate only while "
    "something waits: the flow stays at a seventh of the path's rate. This does not show what a better end-to-end law would do."
)
SEVERAL = (
    "INTCP flows share a hop equally by design; the paper does not cover sharing. Beside TCP, INTCP keeps the queue at 5 ms and gives way: "
    "Cubic and BBR take four fifths of the hop. On a hop with TCP, give INTCP its own queue."
)
FIGURE_6 = (
    "INTCP has the abstract's 1.6 times Reno's throughput where each hop loses between 1e-6 and 1e-5 of the packets. There its delay is "
    "0.34 to 0.40 of Reno's (published: 0.58) and its jitter 0.07 to 0.08 (published: 0.47). Both come from the queue of 1,000 packets "
    "before a hop on the ground: without loss Reno fills 255 ms of it, INTCP 16 ms; the path itself takes 106 ms. The paper names no "
    "queue; a shorter one would give smaller gains.\n\n"
    "INTCP keeps 99 % of its rate up to a loss of 1e-2. BBR, which the paper does not compare, has the same rate and delay up to 1e-4, "
    "and loses nearly half its rate at 1e-2. INTCP's jitter is less than a third of BBR's, and no block waits for a lost one. "
    "Intervals are wide because the path differs more between windows than the transports do."
)
GAINS_WORDS = (
    "INTCP over Reno, by pairs of one window, with 95 % intervals of three windows; dashed: published. Above 1e-5 Reno fills no queue, "
    "and its delay is about INTCP's."
)
GAINS_ALTERNATIVE = (
    "INTCP over Reno: goodput grows from 1.04 without loss to 101 at 1e-2, delay is 0.34 to 0.40 up to 1e-5 and 0.76 to 1.2 above, "
    "jitter 0.04 to 0.38"
)
TRADE_WORDS = (
    "With 95 % intervals of three runs: the first half second of delay adds 1.6 Mb/s, the next 0.85 s add 4.3 Mb/s, and more than 8 MB "
    "adds nothing."
)
TRADE_ALTERNATIVE = "Goodput against one-way delay: 11.2 Mb/s at 131 ms with the default, 17.1 at 1,439 ms with 8 MB"
FIGURE_6_DAY = (
    "In 24 windows with a loss of 6e-6 on each hop INTCP has 1.48 times Reno's goodput; the published 1.6 lies within the interval. 88 % "
    "of INTCP's blocks arrive within 180 ms (published: 80 %), 58 % of Reno's. INTCP's mean delay changes by at most 89 ms from second to "
    "second (published: almost always below 100 ms).\n\n"
    "INTCP's gains in delay (0.43 of Reno's; published: 0.58) and jitter (a twelfth; published: 0.47) come from the first ten seconds, "
    "when slow start fills the queue: blocks take 896 ms with Reno and 145 ms with INTCP. From 10 to 50 s they take 134 and 148 ms, and "
    "INTCP has 1.85 times Reno's goodput. The gain in delay therefore depends on how long flows last, which the paper does not give.\n\n"
    "BBR has INTCP's goodput and delay, with five times its jitter. Hybla's blocks take five times as long as INTCP's.\n\n"
    "Pooled over the 24 windows (`downlink campaigns figure`, kinds `delays`, `jitter` and `rates`; data: `delays.json` and `rates.json` "
    "of the tables):\n\n"
    "![One-way delays: 80 % within 168 ms with INTCP, 157 with BBR, 524 with Reno, 796 with Hybla](figures/day-delays.svg)\n\n"
    "![Jitter: 95 % below 20 ms with INTCP; Reno and Hybla exceed 100 ms in 12 and 28 % of the seconds](figures/day-jitter.svg)\n\n"
    "![Throughput of single seconds: above 14 Mb/s in 95 % of them with INTCP, in 38 % with Reno](figures/day-rates.svg)"
)
FIGURE_7 = (
    "All receivers ask for the same content at once; the first is at the end of the path, the others along it. With caches each gets as "
    "much as one alone, because a relay asks for a byte once. Without caches n receivers share the source's hop. The abstract claims more "
    "than six times for multicast, without the number of receivers; here caches give n times for n receivers."
)
BUFFERS = (
    "The hop of Figure 5(a), switching every 4 s. The fast half brings 15 Mb/s more than the ground takes: 7.5 MB in 4 s. Up to 8 MB "
    "goodput therefore grows by half, and delay tenfold. The default of 0 stores only what the hop needs. Figures 5(a) and 5(b) use 24 MB, "
    "all others the default."
)
FIGURE_5B = (
    "All 20 values agree with the scripts. Cubic loses 27 % of its goodput to 4 s without a link in every 20 s (scripts: 26 %), INTCP 1 % "
    "and split Hybla 4 %, because the relay has stored data before. In some outages of 4 s split Cubic's relay runs dry, and the ground "
    "carries nothing for up to 6 s; its interval is wide."
)
