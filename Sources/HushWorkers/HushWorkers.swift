// The module's parts are in the files beside this one.
