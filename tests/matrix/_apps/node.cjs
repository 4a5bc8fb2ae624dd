const { Session } = require('peteos-session')
const { scenario } = require('./scenario.cjs')

scenario({ Session }).then(console.log)
