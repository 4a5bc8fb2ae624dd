'use client'

import { init, loadEncoding, Session, toMessages } from 'peteos-session'
import { useEffect, useState } from 'react'
import { scenario } from '../scenario.mjs'

export default function Page() {
  const [result, setResult] = useState('')
  useEffect(() => {
    init()
      .then(() => loadEncoding('o200k_base'))
      .then(() => scenario({ Session, toMessages }))
      .then(setResult, (error) => setResult(String(error)))
  }, [])
  return <p id="result">{result}</p>
}
