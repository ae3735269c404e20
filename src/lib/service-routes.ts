// What the specification says of the service's routes that more than one part has to know.

/** The one route that hands out forms to a partner without a partner account. */
export const isBulkRoute = (path: string): boolean => path.includes('bulk')
