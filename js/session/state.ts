import type { SessionHandle } from '../../pkg/peteos_session.js'
import { wrapMethods } from '../caller-stack.js'

/** The key-value store of a session: strings by name, saved with it. */
export class SessionState {
  readonly #handle: () => SessionHandle

  /** @internal */
  constructor(handle: () => SessionHandle) {
    this.#handle = handle
  }

  /** The value of a variable; `null` if it does not exist. */
  get(name: string): string | null {
    return this.#handle().stateGet(name) ?? null
  }

  /**
   * Creates a variable.
   *
   * @throws {InvalidArgumentError} if it exists.
   */
  create(name: string, value: string): void {
    this.#handle().stateCreate(name, value)
  }

  /**
   * Changes a variable from one value to another: compare and swap.
   *
   * @throws {InvalidArgumentError} if it does not exist.
   * @throws {ConflictError} if its value is not `oldValue`.
   */
  update(name: string, oldValue: string, newValue: string): void {
    this.#handle().stateUpdate(name, oldValue, newValue)
  }

  /**
   * Removes a variable.
   *
   * @throws {InvalidArgumentError} if it does not exist.
   */
  delete(name: string): void {
    this.#handle().stateDelete(name)
  }

  /** The names of all variables, in order of creation. */
  list(): string[] {
    return this.#handle().stateList()
  }
}

wrapMethods(SessionState)
