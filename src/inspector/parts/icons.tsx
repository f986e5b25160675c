// Pictures of the navigation, drawn with the colour of their text.

const paths = {
  ask: 'M11 4a7 7 0 1 0 4.2 12.6L20 21M11 4a7 7 0 0 1 4.2 12.6',
  graph:
    'M6 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM18 13a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8.4 6.8l7.2 2.9M6.4 8.5l1.2 7M10 16.6l6-4.4',
  sparql: 'M8 4C5 4 7 11 4 12c3 1 1 8 4 8M16 4c3 0 1 7 4 8-3 1-1 8-4 8M10 12h4M12 10v4',
  cores: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5',
  documents: 'M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5',
  objects: 'M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01',
  queue: 'M4 6h10M4 12h16M4 18h7M17 4l3 2-3 2',
  health: 'M3 12h4l3-8 4 16 3-8h4',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
