// How the reference page looks. Its digest is in the policy of the page, which allows nothing else.

export const style = `
:root { color-scheme: light dark; --line: light-dark(#d8dce3, #363b45); --quiet: light-dark(#586070, #a0a8b6);
  --ground: light-dark(#fff, #15171c); --code: light-dark(#f4f5f8, #1e2128); --link: light-dark(#0b57b8, #82b4ff) }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; background: var(--ground); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
a { color: var(--link); text-decoration: none }
a:hover, main p a, pre a { text-decoration: underline }
nav, main { padding: 1.25rem }
nav { font-size: .875rem; border-bottom: 1px solid var(--line) }
nav ul { list-style: none; margin: 0 0 .75rem; padding: 0 }
nav li a { display: grid; grid-template-columns: 3.6rem 1fr; padding: .25rem 0; line-height: 1.4 }
nav li b { font: 600 .7rem/1.75 ui-monospace, monospace }
nav summary, nav .title { display: list-item; list-style-position: inside; padding: .2rem 0; font-weight: 600; text-transform: capitalize }
nav .title { list-style: none }
main { max-width: 60rem }
h1 { margin: 0; font-size: 1.75rem }
h2 { margin: 3rem 0 .25rem; font-size: 1.4rem; text-transform: capitalize }
h3 { margin: 0 0 .5rem; font: 600 1rem/1.5 ui-monospace, monospace }
h4 { margin: 1.25rem 0 .25rem; font-size: .9rem }
article { margin: 1.5rem 0; padding-top: 1.5rem; border-top: 1px solid var(--line) }
.method { display: inline-block; margin-right: .5rem; padding: 0 .45rem; border: 1px solid; border-radius: .3rem; font-size: .8rem }
.get { color: light-dark(#0a6b3d, #6fd3a0) } .post { color: light-dark(#6a3d9a, #c9a7ff) }
.put, .patch { color: light-dark(#8a5300, #f0b45c) } .delete { color: light-dark(#b3261e, #ff8f87) }
.quiet { color: var(--quiet) }
code, pre { font: .85rem/1.5 ui-monospace, monospace }
code { background: var(--code); padding: .05rem .3rem; border-radius: .25rem }
pre { background: var(--code); padding: .75rem 1rem; margin: .5rem 0; border-radius: .4rem; white-space: pre-wrap }
dl { margin: 0; display: grid; gap: .35rem 1rem }
dt { font-weight: 500 } dd { margin: 0 0 .35rem }
details > summary { cursor: pointer }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 17rem 1fr }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border: 0; border-right: 1px solid var(--line) }
  main { padding: 2rem 3rem }
  dl { grid-template-columns: minmax(9rem, 16rem) 1fr } dd { margin: 0 }
}
`
