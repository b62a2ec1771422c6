import { API, noteSignedOut } from './client'

/** Send a form and tell the share that is sent, which fetch cannot. Rejects with the problem as the server said it. */
export function upload<Answer>(path: string, form: FormData, onProgress: (share: number) => void): Promise<Answer> {
  const request = new XMLHttpRequest()
  return new Promise((resolve, reject) => {
    request.open('POST', `${API}${path}`)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onerror = () => reject(new TypeError('the server does not answer'))
    request.onload = () => {
      if (request.status === 401) noteSignedOut()
      const body = bodyOf(request.responseText)
      if (request.status < 300) resolve(body as Answer)
      else reject(body)
    }
    request.send(form)
  })
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
