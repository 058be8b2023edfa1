/**
 * `T`, while `Names` are all of its members. Code that takes options apart, or puts them together, names them here:
 * once a member is added to `T`, it does not compile until it says what it does with that one.
 */
export type Exactly<T, Names extends MembersOf<T>> = [MembersOf<T>] extends [Names]
  ? T
  : { readonly forgotten: Exclude<MembersOf<T>, Names> };

/** The members of a type; of a union, those of each. */
export type MembersOf<T> = T extends unknown ? keyof T : never;
