// A view that comes when it is first wanted.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure, Loading } from './parts/states.js'
import type { Place } from './place.js'

export interface ViewProps {
  readonly place: Place
}

/** Its file is fetched once, whoever shows it. */
export function later<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return (props) => {
    const [, setTurn] = useState(0)
    const [error, setError] = useState<unknown>()
    useEffect(() => {
      if (loaded !== undefined) return
      load().then((module) => {
        loaded = module.default
        setTurn(1)
      }, setError)
    }, [])
    if (error !== undefined) return <Failure error={error} again={() => location.reload()} />
    const View = loaded
    return View === undefined ? <Loading /> : <View {...props} />
  }
}
