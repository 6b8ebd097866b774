SELECT * FROM {{ ref("orders") }}
