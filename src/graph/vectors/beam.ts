// The best vectors that a walk through a graph has met, best first.

export class Beam {
  scores: Float32Array
  /** Numbers of vectors; those whose links were followed are there as their complement (~n). */
  nodes: Int32Array
  size = 0
  #width: number
  /** No vector before this one waits for its links to be followed. */
  #next = 0

  constructor(width: number) {
    this.#width = width
    this.scores = new Float32Array(width)
    this.nodes = new Int32Array(width)
  }

  clear(width: number): void {
    this.size = 0
    this.restart(width)
  }

  /** Keeps what it has, and no links of it were followed any more. */
  restart(width: number): void {
    if (width > this.scores.length) {
      const { scores, nodes } = this
      this.scores = new Float32Array(width)
      this.nodes = new Int32Array(width)
      this.scores.set(scores)
      this.nodes.set(nodes)
    }
    this.#width = width
    this.#next = 0
    this.size = Math.min(this.size, width)
    for (let n = 0; n < this.size; n++) this.nodes[n] = this.node(n)
  }

  add(node: number, score: number): void {
    const { scores, nodes } = this
    let at = this.size
    if (at === this.#width) {
      if (!(score > (scores[at - 1] as number))) return
      at--
    } else {
      this.size++
    }
    // Halving finds the place sooner, and then the tail still has to move: for most, it is short.
    while (at > 0 && (scores[at - 1] as number) < score) {
      scores[at] = scores[at - 1] as number
      nodes[at] = nodes[at - 1] as number
      at--
    }
    scores[at] = score
    nodes[at] = node
    if (at < this.#next) this.#next = at
  }

  /** The best vector whose links were not followed yet, which they are from now on; -1 at the end. */
  follow(): number {
    const { nodes } = this
    while (this.#next < this.size) {
      const node = nodes[this.#next] as number
      if (node >= 0) {
        nodes[this.#next++] = ~node
        return node
      }
      this.#next++
    }
    return -1
  }

  node(n: number): number {
    const node = this.nodes[n] as number
    return node < 0 ? ~node : node
  }
}
