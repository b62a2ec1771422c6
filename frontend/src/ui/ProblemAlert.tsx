import { Alert, Button, List, Text } from '@mantine/core'
import { placedProblems, problemOf } from '@/api/problem'

interface ProblemAlertProps {
  error: unknown
  onRetry?: (() => void) | undefined
}

/** An error as the server said it: a sentence that says what to do, the places, the code. */
export function ProblemAlert({ error, onRetry }: ProblemAlertProps) {
  const problem = problemOf(error)
  const places = placedProblems(problem)
  return (
    <Alert color="red" variant="light" role="alert" title={places.length > 1 ? undefined : problem.message}>
      {places.length > 1 ? (
        <List size="sm" spacing={4}>
          {places.map((one) => (
            <List.Item key={`${one.place} ${one.message}`}>
              {one.line ? `Line ${one.line}, ` : null}
              {one.place ? <strong>{one.place}: </strong> : null}
              {one.message}
            </List.Item>
          ))}
        </List>
      ) : null}
      <Text size="xs" c="dimmed">
        {problem.code}
      </Text>
      {onRetry ? (
        <Button size="xs" variant="default" mt="xs" onClick={onRetry}>
          Try again
        </Button>
      ) : null}
    </Alert>
  )
}
