// Integer types and arithmetic that the detectors need, with nothing of the kernel's.
#ifndef DL_TYPES_H
#define DL_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;
#define true 1
#define false 0

#define __always_inline inline __attribute__((always_inline))
#define NO_VALUE_U32 0xffffffffu

#define MIN(a, b)                                                                                   \
	({                                                                                          \
		typeof(a) left = (a);                                                               \
		typeof(b) right = (b);                                                              \
		left < right ? left : right;                                                        \
	})
#define MAX(a, b)                                                                                   \
	({                                                                                          \
		typeof(a) left = (a);                                                               \
		typeof(b) right = (b);                                                              \
		left > right ? left : right;                                                        \
	})

// The instruction set has no signed division before version 4.
static __always_inline s64 divide_signed(s64 dividend, u64 divisor)
{
	return dividend < 0 ? -(s64)((u64)-dividend / divisor) : (s64)((u64)dividend / divisor);
}

#endif
