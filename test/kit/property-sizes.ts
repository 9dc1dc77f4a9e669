import fc from 'fast-check';

// Without this a list or text of a property has some ten items at most, whatever `maxLength` it names.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
