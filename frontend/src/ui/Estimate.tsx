import classes from './ui.module.css'

/** A mean with its interval, as `formatEstimate` words it: where there is no room the interval comes below, never in two parts. */
export function Estimate({ text }: { text: string }) {
  const [mean, ...interval] = text.split(/ (?=\()/)
  return (
    <>
      <span className={classes.whole}>{mean}</span>
      {interval.map((part) => (
        <span key={part}>
          {' '}
          <span className={classes.whole}>{part}</span>
        </span>
      ))}
    </>
  )
}
