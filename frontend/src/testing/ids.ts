let made = 0

/** An id that nothing else has, and that is the same each time the tests run: what is drawn can collide, and cannot be repeated. */
export const numberedId = () => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
