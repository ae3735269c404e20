// The hashing thread's side of the feed checker: a wrapper around `follow` and nothing else.

import { workerData } from 'node:worker_threads'
import { type Followed, follow } from './hash-following.ts'

follow(workerData as Followed)
