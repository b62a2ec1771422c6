/** The product's mark: a dish's beam towards the upper right. */
export function Mark({ size = 24 }: { size?: number }) {
  return <img src="/favicon.svg" alt="" width={size} height={size} />
}
