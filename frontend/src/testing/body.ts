/** What was sent, as an object: JSON as it is, of a form the fields that are no files. */
export async function readBody(message: Pick<Request, 'headers' | 'text' | 'formData'>): Promise<Record<string, unknown>> {
  if (message.headers.get('content-type')?.startsWith('multipart/')) {
    return Object.fromEntries([...(await message.formData())].filter(([, value]) => typeof value === 'string'))
  }
  const text = await message.text()
  return text ? JSON.parse(text) : {}
}
