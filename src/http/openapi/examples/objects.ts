import type { Example } from '../operation.js'

export const objectExamples = {
  defineSchema: {
    path: {
      name: 'boats',
    },
    type: 'application/json',
    body: {
      fields: {
        id: {
          type: 'string',
        },
        seats: {
          type: 'integer',
          required: true,
        },
      },
      indexes: ['seats'],
    },
    status: 201,
    answer: {
      name: 'boats',
      fields: {
        id: {
          type: 'string',
        },
        seats: {
          type: 'integer',
          required: true,
        },
      },
      indexes: ['seats'],
      strict: false,
      id_field: 'id',
      generate_ids: false,
    },
  },
  listSchemas: {
    status: 200,
    answer: {
      schemas: [
        {
          name: 'boats',
          fields: {
            id: {
              type: 'string',
            },
            seats: {
              type: 'integer',
              required: true,
            },
          },
          indexes: ['seats'],
          strict: false,
          id_field: 'id',
          generate_ids: false,
        },
      ],
      limit: 100,
      total: 1,
    },
  },
  showSchema: {
    path: {
      name: 'boats',
    },
    status: 200,
    answer: {
      name: 'boats',
      fields: {
        id: {
          type: 'string',
        },
        seats: {
          type: 'integer',
          required: true,
        },
      },
      indexes: ['seats'],
      strict: false,
      id_field: 'id',
      generate_ids: false,
    },
  },
  createCollection: {
    path: {
      collection: 'catalog',
    },
    status: 201,
    answer: {
      name: 'catalog',
    },
  },
  importObjects: {
    path: {
      flow: 'default',
    },
    query: {
      on_duplicate: 'replace',
    },
    type: 'application/json',
    body: {
      metadata: {
        id: 'b1',
        user: 'alice',
        collection: 'catalog',
      },
      schema_name: 'boats',
      values: [
        {
          id: 'skiff',
          seats: 2,
        },
        {
          id: 'punt',
          seats: 4,
        },
      ],
    },
    status: 200,
    answer: {
      id: 'b1',
      collection: 'catalog',
      schema_name: 'boats',
      imported: 2,
      replaced: 0,
      skipped: 0,
      ids: ['skiff', 'punt'],
    },
  },
  queryObjects: {
    path: {
      flow: 'default',
    },
    type: 'application/json',
    body: {
      schema_name: 'boats',
      filters: {
        seats: {
          $gt: 1,
        },
      },
      sort: {
        seats: 'desc',
      },
      fields: ['seats'],
      limit: 1,
    },
    status: 200,
    answer: {
      objects: [
        {
          seats: 4,
          _id: 'punt',
        },
      ],
      total: 2,
      limit: 1,
      offset: 0,
      next: 'W1tbInNlYXRzIiwiZGVzYyJdXSxbNF0sImVSclR3LUVmWmxHY2pXRU02VFh2RVEiXQ',
    },
  },
  explainQuery: {
    path: {
      flow: 'default',
    },
    type: 'application/json',
    body: {
      schema_name: 'boats',
      filters: {
        seats: {
          $gt: 1,
        },
      },
      limit: 1,
    },
    status: 200,
    answer: {
      plan: 'index',
      indexes: [
        {
          path: 'seats',
          ranges: ['(1, Infinity]'],
          keys: 2,
        },
      ],
      filtered: false,
      counted: true,
      sort: 'none',
      keysRead: 2,
      objectsRead: 1,
      total: 2,
      returned: 1,
      milliseconds: 0.395,
      notUsed: [],
    },
  },
  showObject: {
    path: {
      collection: 'catalog',
      id: 'skiff',
    },
    status: 200,
    answer: {
      id: 'skiff',
      seats: 2,
      _id: 'skiff',
      _schema: 'boats',
      _collection: 'catalog',
      _user: 'alice',
      _created_at: '2026-01-31T12:00:00.000Z',
      _updated_at: '2026-01-31T12:00:00.000Z',
      _version: '1a2b3c4d5e',
      _metadata: {
        created_at: '2026-01-31T12:00:00.000Z',
        updated_at: '2026-01-31T12:00:00.000Z',
        collection: 'catalog',
      },
    },
  },
  replaceObject: {
    path: {
      collection: 'catalog',
      id: 'skiff',
    },
    type: 'application/json',
    body: {
      seats: 3,
    },
    status: 200,
    answer: {
      id: 'skiff',
      seats: 3,
      _id: 'skiff',
      _schema: 'boats',
      _collection: 'catalog',
      _user: 'alice',
      _created_at: '2026-01-31T12:00:00.000Z',
      _updated_at: '2026-01-31T12:00:00.000Z',
      _version: '1a2b3c4d5e',
      _metadata: {
        created_at: '2026-01-31T12:00:00.000Z',
        updated_at: '2026-01-31T12:00:00.000Z',
        collection: 'catalog',
      },
    },
  },
  patchObject: {
    path: {
      collection: 'catalog',
      id: 'skiff',
    },
    type: 'application/json',
    body: {
      colour: 'green',
    },
    status: 200,
    answer: {
      id: 'skiff',
      seats: 3,
      colour: 'green',
      _id: 'skiff',
      _schema: 'boats',
      _collection: 'catalog',
      _user: 'alice',
      _created_at: '2026-01-31T12:00:00.000Z',
      _updated_at: '2026-01-31T12:00:00.000Z',
      _version: '1a2b3c4d5e',
      _metadata: {
        created_at: '2026-01-31T12:00:00.000Z',
        updated_at: '2026-01-31T12:00:00.000Z',
        collection: 'catalog',
      },
    },
  },
  listCollections: {
    status: 200,
    answer: {
      collections: [
        {
          name: 'catalog',
          objects: 2,
          schemas: {
            boats: 2,
          },
          created_at: '2026-01-31T12:00:00.000Z',
          version: 'mkx3c0',
        },
      ],
      limit: 100,
      total: 1,
    },
  },
  deleteObject: {
    path: {
      collection: 'catalog',
      id: 'skiff',
    },
    status: 204,
  },
  deleteCollection: {
    path: {
      collection: 'catalog',
    },
    status: 200,
    answer: {
      deleted: 1,
    },
  },
  dropSchema: {
    path: {
      name: 'boats',
    },
    status: 204,
  },
} as const satisfies Readonly<Record<string, Example>>
