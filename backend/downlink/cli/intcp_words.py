"""What the page of paper 004's figures says of each of them: what was found, and why. Numbers are of the archives."""

from __future__ import annotations

INTRODUCTION = (
    "# INTCP: what the campaigns found\n\n"
    "Paper 004 (“INTCP: Information-centric TCP for Satellite Network”, Yin et al., 2021) cuts a path at every satellite and claims "
    "less delay, less jitter and more throughput than TCP. This page has the numbers of each figure's campaign by transport, as means "
    "with 95 % intervals; [the page of the paper](../reproduction/yin-2021-intcp.md) holds them against each published value, says "
    "what is inside and what is not, and why. Goodput counts the payload; delays are of blocks from their first departure, of "
    "messages from their offer, to their delivery, and jitter is the change of their mean from second to second "
    "([method](../method.md)). One set of options serves all figures, but for the buffer of Figures 5(a) and 5(b) and, with it, what a "
    "consumer may have asked for at once (`window_bytes`). Links are "
    "[emulated](../link-profiles.md), TCP is the kernel's. Written by `make reproduction` (`downlink intcp-study`); do not edit.\n\n"
    "Published are three kinds of numbers. The abstract has three gains (42 % less delay, 53 % less jitter, 60 % more throughput) and "
    "names neither the loss at which they hold nor the TCP. The figures have curves without numbers. The authors' scripts have the "
    "numbers of two of them; those that are said to be INTCP's come from a script for split TCP, which is older than INTCP's first "
    "rate control. So Figure 5 has split TCP and INTCP side by side.\n"
)
FIGURE_5A = (
    "End to end, TCP gets what the slower of the two hops lets through at each moment, and what the queue between them holds. Who ends "
    "at the relay, or asks there, keeps what the fast half brings, and sends it on in the slow half. From 4 s on Cubic and Hybla have "
    "end to end what the scripts have. At 2 s they have less, because the queue before the ground decides there: with 1,000 packets "
    "Cubic gets 14.0 Mb/s in virtual time, too, with 2,000 it gets 16.0 and with 3,000 17.5 (published: 17.7; "
    "[`downlink-agent profiles run`](../link-profiles.md)). The scripts set 1,000 packets for the queue and 1,000 for the device.\n\n"
    "The first slow half cannot be made good, because nothing has been kept yet. Of a run of 60 s it takes 2 to 10 s, which at 10 s "
    "leaves about 16.5 Mb/s for INTCP's payload; the scripts ran for 180 s. From 10 to 50 s both halves have equal parts, "
    "but at 8 s. There split TCP fills the ground, and INTCP has 17 to 18 of its 18.9 Mb/s: its rate law looks for each new rate "
    "in steps, which costs most where the rate changes most often. So INTCP meets our goal of 17.0 Mb/s over the whole run, nine tenths "
    "of what the payload could have, at 4, 6 and 8 s, and misses it at 2 s (16.6) and at 10 s (16.7). From 10 to 50 s it has 1.45 times "
    "Cubic's goodput at 10 s (published, of split TCP: 1.44)."
)
FIGURE_5C = (
    "A program writes 16 bytes each 5 ms, and a message counts from there until it has arrived, or is there in order. The figure has "
    "curves without numbers; what it is held against follows from a loss that holds up all messages behind it for the round trip of "
    "whoever repairs it. INTCP has that: 44, 76, 145, 321 and 468 ms in order (expected: 45, 77, 146, 319, 524). Its messages arrive "
    "first, at every round trip and with the least jitter.\n\n"
    "TCP does better in order than repairing end to end lets one expect (89, 131, 220, 418, 643 ms), because a small window makes it "
    "collect messages: at 100 ms Reno sends 12,000 of them in 1,930 packets and Hybla in 7,470. Fewer packets are lost, and each loss "
    "holds up fewer messages; in turn, Reno's wait 63 ms at the sender before they leave. So INTCP is ahead in order where the hop "
    "that loses is short (by 32 to 38 % at 20 ms, by 22 to 31 % at 50 ms), and behind both from 200 ms on. Split Reno collects at "
    "each end of a hop and repairs there: it has the least delay in order from 100 ms on. INTCP sends each unit as it comes.\n\n"
    "The hop repairs what it loses: in the 15 runs it lost 9,952 packets. From 100 ms on consumers asked again for 289 messages "
    "themselves, at most 56 of a run. A message whose repair is lost, too, comes after more than two round trips of the hop, and by then "
    "the consumer's own timeout is over. Half of these messages (145) came twice, so the hop had repaired them, too. The last line below "
    "counts each question of a consumer against the hop; up to 50 ms there was none.\n\n"
    "Of a run's messages 90 % were there in order within 35 to 73 ms with INTCP at 20 ms (Reno 36 to 149, Hybla 35 to 126), 50 to 142 "
    "at 50 ms (51 to 239, 51 to 179), 76 to 277 at 100 ms (76 to 362, 76 to 275), 126 to 566 at 200 ms (131 to 686, 127 to 581) and 220 "
    "to 782 at 300 ms (189 to 1,123, 178 to 767), as means of three runs. INTCP's band is the narrowest of the three at 20, 50 and 200 "
    "ms, Hybla's at 100 ms, and at 300 ms it is as wide as Hybla's to within their intervals."
)
PARTS = (
    "One mechanism switched off at a time, over the path of Figure 6 with a loss of 1e-3 on each hop. Repair at the hop earns little "
    "goodput and most of the rest: end to end a lost unit is asked for again after a timeout, so that delay in order grows tenfold. "
    "Asking a new neighbour at once, instead of after a timeout, earns up to a tenth of a window's goodput. In two windows of three it "
    "makes jitter a tenth and a sixth of what it is with the timeout; in the third it is 10.5 ms, and 7.3 ms with the timeout. The "
    "cache does nothing for one flow, as it should be.\n\n"
    "With `rate: end` a hop asks for no more than the next one asks for. Nothing waits at a relay then, and the [rate "
    "law](README.md#the-rate-law) raises a hop's rate only while something waits before it: the flow stays at a seventh of what the "
    "path carries, with no packet lost but those that the hops lose by themselves. So this line shows what relays that hold something "
    "are good for, and not how a better law from end to end would do."
)
SEVERAL = (
    "The paper says nothing of sharing. INTCP flows share by design: the requester of a hop gives each its part of the hop's rate, and "
    "Jain's index is what that says. Beside TCP, INTCP is what its law makes it: it keeps the queue at 5 ms and gives way to whoever "
    "fills it. Cubic and BBR then have four fifths of the hop. Whoever puts INTCP on a hop with TCP should give it a queue of its own."
)
FIGURE_6 = (
    "The abstract does not say at which loss its gains hold, so throughput decides: INTCP has 1.6 times Reno's where each hop loses "
    "between 1e-6 and 1e-5 of the packets. There its delay is 0.34 to 0.40 of Reno's (published: 0.58) and its jitter 0.07 to 0.08 "
    "(published: 0.47). Both come from the queue of 1,000 packets before a hop on the ground: by the links' logs Reno keeps 255 ms "
    "of it filled where nothing is lost, INTCP 16 ms, and the way itself takes 106 ms. A shorter queue would give smaller gains; the "
    "paper names none for this figure.\n\n"
    "INTCP keeps 99 % of its rate up to a loss of 1e-2. BBR, which the paper does not compare, keeps its rate up to 1e-4 with the "
    "same delay as INTCP, and loses 3 % at 1e-3 and nearly half at 1e-2. Hybla keeps two thirds at 1e-4 and a twentieth at 1e-2. What "
    "INTCP has over BBR is steadiness: its jitter is less than a third at every loss, and no block waits for one that was lost, so that "
    "delay in order is that of arrival. Reno's delay is low where loss keeps it from filling anything.\n\n"
    "Means over three windows of a day have wide intervals: the way differs from window to window by more than transports do. Pairs of "
    "one window are what [the page of the paper](../reproduction/yin-2021-intcp.md) compares."
)
GAINS_WORDS = (
    "The three gains of the abstract, as INTCP over Reno, pair by pair of one window, with 95 % intervals of three windows; dashed "
    "is what was published. Goodput passes 1.6 between 1e-6 and 1e-5, where delay and jitter are lower than published; with more loss "
    "Reno fills no queue any more, and its delay is about INTCP's."
)
GAINS_ALTERNATIVE = (
    "INTCP over Reno: goodput grows from 1.04 without loss to 101 at 1e-2 (published: 1.6), delay is 0.34 to 0.40 up to 1e-5 and 0.76 "
    "to 1.2 from 1e-4 on (published: 0.58), jitter 0.04 to 0.38 (published: 0.47)"
)
TRADE_WORDS = (
    "Each point is a size of the buffer, with 95 % intervals of three runs in both directions: the first half a second of delay buys "
    "1.6 Mb/s, the next 0.85 s buy 4.3 Mb/s, and more than 8 MB buys nothing."
)
TRADE_ALTERNATIVE = (
    "Goodput against one-way delay: 11.2 Mb/s at 131 ms with the default, 11.3 at 181 ms with 0.5 MB, 12.8 at 588 ms with 2 MB, 17.1 "
    "at 1,439 ms with 8 MB, 17.3 at 1,456 ms with 24 MB"
)
FIGURE_6_DAY = (
    "In 24 windows of a day INTCP has 1.48 times Reno's goodput where each hop loses 6e-6 of the packets: the 1.6 of the abstract lie "
    "within the interval. 88 % of INTCP's blocks arrive within 180 ms (published: 80 %) and 58 % of Reno's; the means of INTCP's delay "
    "change by 89 ms at most from one second to the next (published: almost always below 100 ms).\n\n"
    "INTCP has 0.43 of Reno's delay over the whole run (published: 0.58) and a twelfth of its jitter (published: 0.47), and both are of "
    "the first ten seconds. There slow start fills the queue before the hop on the ground, and blocks take 896 ms with Reno and 145 ms "
    "with INTCP. From 10 to 50 s they take 134 ms with Reno and 148 ms with INTCP, which then has 1.85 times Reno's goodput: a sender "
    "that loses a packet each few seconds halves its rate and fills no queue. So how much delay INTCP saves over Reno depends on how "
    "long flows last, which the paper does not say.\n\n"
    "BBR has INTCP's goodput and delay here, too, with five times its jitter. Hybla fills the path as well, and the queue before it: "
    "its blocks take five times as long as INTCP's.\n\n"
    "Over all blocks, pairs of seconds and seconds of the 24 windows (`downlink campaigns figure`, kinds `delays`, `jitter` and "
    "`rates`; the distributions are `delays.json` and `rates.json` of the campaign's tables):\n\n"
    "![One-way delays: 80 % within 168 ms with INTCP, 157 with BBR, 524 with Reno, 796 with Hybla](figures/day-delays.svg)\n\n"
    "![Jitter: 95 % below 20 ms with INTCP; Reno and Hybla exceed 100 ms in 12 and 28 % of the seconds](figures/day-jitter.svg)\n\n"
    "![Throughput of single seconds: above 14 Mb/s in 95 % of them with INTCP, in 38 % with Reno](figures/day-rates.svg)"
)
FIGURE_7 = (
    "The first receiver is at the end of the way, the others hang along it, and all ask for the same content at once. With caches on "
    "the way each of them has what one alone has, however many they are: a relay asks for a byte once and serves whoever wants it. "
    "Without caches each flow goes all the way, and n receivers share the source's hop, so that each has an nth. The abstract claims "
    "more than six times for multicast and does not say for how many receivers: here caches give n times for n receivers, and what "
    "leaves the source is the same to 1 %."
)
BUFFERS = (
    "The hop of Figure 5(a) that switches every 4 s. What a relay keeps of a fast half it sends in the slow one: 15 Mb/s that the "
    "ground does not take are 7.5 MB in 4 s. So goodput grows up to a buffer of 8 MB, by half, and so does the delay of what waits "
    "there, which is ten times that with the default. The default of 0 keeps what the hop needs and no more. Figures 5(a) and 5(b) "
    "are run for goodput, with 24 MB; all others with the default."
)
FIGURE_5B = (
    "Here ours agree with the scripts in all 20 values, TCP from end to end among them: Cubic loses 27 % of its goodput to 4 s without "
    "a link in every 20 (scripts: 26 %), INTCP 1 %. What the ground carries meanwhile is what the relay has kept of the 40 Mb/s before. "
    "Split Hybla loses 4 %, for the same reason. Under split Cubic the relay runs dry in some of the periods of 4 s, and the ground then "
    "carries nothing for up to 6 s: its interval is wide."
)
