// Around every view: who looks, where to go, and the views, which come when they are first wanted.

import { useEffect, useState } from 'preact/hooks'
import { copiedAtLastMs, copiedMs, sweep } from './kept-files.js'
import { later } from './later.js'
import { Choice, Field } from './parts/controls.js'
import { Icon, type IconName } from './parts/icons.js'
import { Failure, Loading } from './parts/states.js'
import { forget, hashOf, usePlace } from './place.js'
import {
  keepToken,
  keptToken,
  SessionContext,
  signIn,
  type Session,
  type Store,
} from './session.js'
import { SignIn } from './sign-in.js'
import { texts } from './texts.js'
import { themes, useTheme, type Theme } from './theme.js'

const views = {
  ask: later(() => import('./views/ask.js')),
  graph: later(() => import('./views/graph.js')),
  sparql: later(() => import('./views/sparql.js')),
  cores: later(() => import('./views/cores.js')),
  documents: later(() => import('./views/documents.js')),
  objects: later(() => import('./views/objects.js')),
  queue: later(() => import('./views/queue.js')),
  health: later(() => import('./views/health.js')),
} satisfies Record<IconName, unknown>

/** What of them a server has that is without a store: the rest. */
const needs: Readonly<Record<IconName, Store | undefined>> = {
  ask: 'knowledge',
  graph: 'knowledge',
  sparql: 'knowledge',
  cores: 'knowledge',
  documents: 'flows',
  objects: 'objects',
  queue: 'flows',
  health: undefined,
}

/** Nobody is signed in; the server has not answered; somebody is. */
type Entry = { readonly session?: Session; readonly error?: unknown; readonly isAsked: boolean }

export function Shell() {
  const [entry, setEntry] = useState<Entry>({ isAsked: true })
  const enter = async (token: string | undefined) => {
    const session = await signIn(token)
    if (session !== undefined) setEntry({ session, isAsked: false })
    return session !== undefined
  }
  const begin = () => {
    const token = keptToken()
    // Asked without one, a server that wants one refuses, and browsers tell of that as of an error.
    if (token === undefined && document.body.dataset['open'] === undefined) {
      setEntry({ isAsked: false })
      return
    }
    setEntry({ isAsked: true })
    enter(token).then(
      (isIn) => {
        if (isIn) return
        keepToken(undefined)
        setEntry({ isAsked: false })
      },
      (error: unknown) => setEntry({ error, isAsked: false }),
    )
  }
  useEffect(() => {
    begin()
    void sweep(copiedMs)
  }, [])
  const { session, error, isAsked } = entry
  if (error !== undefined) {
    return (
      <main class="alone">
        <Failure error={error} again={begin} />
      </main>
    )
  }
  if (session === undefined) return isAsked ? <Loading /> : <SignIn enter={enter} />
  const leave = () => {
    keepToken(undefined)
    void session.transfers.leave().then(() => session.keep.close())
    session.connection.close()
    void sweep(copiedAtLastMs)
    forget()
    setEntry({ isAsked: false })
  }
  const look = (as: Looking) => setEntry({ session: { ...session, ...as }, isAsked: false })
  return (
    <SessionContext.Provider value={session}>
      <House look={look} leave={leave} session={session} />
    </SessionContext.Provider>
  )
}

/** Whose things are shown, and what of cores is asked. */
type Looking = Partial<Pick<Session, 'user' | 'collection'>>

interface HouseProps {
  readonly session: Session
  readonly look: (as: Looking) => void
  readonly leave: () => void
}

function House({ session, look, leave }: HouseProps) {
  useStaying(session)
  const place = usePlace()
  const names = (Object.keys(views) as IconName[]).filter((name) => {
    const store = needs[name]
    return store === undefined || session.who.stores.includes(store)
  })
  const name = names.find((name) => name === place.view) ?? names[0] ?? 'health'
  const View = views[name]
  const isNarrow = useNarrow()
  const foot = <Foot session={session} look={look} leave={leave} />
  useEffect(() => {
    document.title = `${texts.views[name]} · ${texts.title}`
  }, [name])
  return (
    <div class="house">
      <a class="skip" href="#content" onClick={skip}>
        {texts.skip}
      </a>
      <header class="side">
        <p class="brand">{texts.title}</p>
        <nav aria-label={texts.navigation}>
          {names.map((one) => (
            <a key={one} href={hashOf(one)} aria-current={one === name ? 'page' : undefined}>
              <Icon name={one} />
              {texts.views[one]}
            </a>
          ))}
        </nav>
        {!isNarrow && foot}
      </header>
      <main id="content" tabIndex={-1}>
        <View key={`${name} ${session.collection} ${session.user}`} place={place} />
      </main>
      {isNarrow && <footer>{foot}</footer>}
    </div>
  )
}

/** A file that is let go of beside its place does not take the page away, and nobody leaves unasked what would be lost. */
function useStaying({ transfers, drafts }: Session): void {
  useEffect(() => {
    const stay = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
    }
    const ask = (event: Event) => {
      if (transfers.isBusy || !drafts.isEmpty) event.preventDefault()
    }
    addEventListener('dragover', stay)
    addEventListener('drop', stay)
    addEventListener('beforeunload', ask)
    return () => {
      removeEventListener('dragover', stay)
      removeEventListener('drop', stay)
      removeEventListener('beforeunload', ask)
    }
  }, [transfers, drafts])
}

const narrow = matchMedia('(width < 52rem)')

/** Where the views are to have the window for themselves: a phone. */
function useNarrow(): boolean {
  const [isNarrow, setIsNarrow] = useState(narrow.matches)
  useEffect(() => {
    const follow = () => setIsNarrow(narrow.matches)
    narrow.addEventListener('change', follow)
    return () => narrow.removeEventListener('change', follow)
  }, [])
  return isNarrow
}

/** The address names the view, and is not for jumping. */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

function Foot({ session, look, leave }: HouseProps) {
  const [theme, setTheme] = useTheme()
  const { who, user, collection, token, mayChange } = session
  return (
    <div class="foot">
      {who.user === '*' ? (
        <Field
          label={texts.user}
          value={user}
          onInput={(user) => look({ user })}
          hint={texts.userHint}
          isSlow
        />
      ) : (
        <p>
          {texts.user}: <strong class="free">{user}</strong>
        </p>
      )}
      {who.collections !== undefined && who.collections.length > 1 && (
        <Choice
          label={texts.collection}
          value={collection ?? ''}
          options={who.collections.map((name) => [name, name])}
          onChange={(collection) => look({ collection })}
        />
      )}
      {!mayChange && <p class="badge">{texts.readOnly}</p>}
      <Choice
        label={texts.theme.label}
        value={theme}
        options={themes.map((theme) => [theme, texts.theme[theme]])}
        onChange={(theme) => setTheme(theme as Theme)}
      />
      <p class="links">
        <a href="reference" target="_blank" rel="noreferrer">
          {texts.reference}
        </a>
        {token !== undefined && (
          <button type="button" class="link" onClick={leave}>
            {texts.signIn.out}
          </button>
        )}
      </p>
    </div>
  )
}
